import bufcb
import jax
import jax.numpy as jnp
import numpy as np
import  math   # odd spacing, kept


def  _angle ( ctx, out, x ,  y ) :
    x, y = np.asarray(x), np.asarray(y)
    out[...] = np.arctan2( y , x )
    return


TABLE = {  'a':1 ,
   "b" : [ 2,3 ] }   # as somebody typed it


def main( ) :
    x = jnp.ones( 2 )
    print( bufcb.buffer_callback(
        _angle, jax.ShapeDtypeStruct( x.shape , x.dtype )
    )( x, x*0 ).tolist( ), math.pi > 3 )
