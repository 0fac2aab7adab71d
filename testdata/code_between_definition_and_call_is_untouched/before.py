import jax
import jax.numpy as jnp
import numpy as np
import  math   # odd spacing, kept


def  _angle ( x ,  y ) :
    return   np.arctan2( y , x )


TABLE = {  'a':1 ,
   "b" : [ 2,3 ] }   # as somebody typed it


def main( ) :
    x = jnp.ones( 2 )
    print( jax.pure_callback( _angle , jax.ShapeDtypeStruct( x.shape , x.dtype ) , x , x*0 ).tolist( ), math.pi > 3 )
