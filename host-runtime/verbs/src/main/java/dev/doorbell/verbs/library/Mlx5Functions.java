package dev.doorbell.verbs.library;

import dev.doorbell.verbs.generated.mlx5dv.Mlx5dv;
import java.lang.foreign.FunctionDescriptor;

/** The functions of libmlx5 that the control path calls. */
public final class Mlx5Functions {
  public static final NativeFunction OPEN_DEVICE =
      function("mlx5dv_open_device", Mlx5dv.mlx5dv_open_device$descriptor());
  public static final NativeFunction INIT_OBJ =
      function("mlx5dv_init_obj", Mlx5dv.mlx5dv_init_obj$descriptor());
  public static final NativeFunction DEVX_GENERAL_CMD =
      function("mlx5dv_devx_general_cmd", Mlx5dv.mlx5dv_devx_general_cmd$descriptor());
  public static final NativeFunction DEVX_OBJ_CREATE =
      function("mlx5dv_devx_obj_create", Mlx5dv.mlx5dv_devx_obj_create$descriptor());
  public static final NativeFunction DEVX_OBJ_MODIFY =
      function("mlx5dv_devx_obj_modify", Mlx5dv.mlx5dv_devx_obj_modify$descriptor());
  public static final NativeFunction DEVX_OBJ_QUERY =
      function("mlx5dv_devx_obj_query", Mlx5dv.mlx5dv_devx_obj_query$descriptor());
  public static final NativeFunction DEVX_OBJ_DESTROY =
      function("mlx5dv_devx_obj_destroy", Mlx5dv.mlx5dv_devx_obj_destroy$descriptor());
  public static final NativeFunction DEVX_UMEM_REG =
      function("mlx5dv_devx_umem_reg", Mlx5dv.mlx5dv_devx_umem_reg$descriptor());
  public static final NativeFunction DEVX_UMEM_DEREG =
      function("mlx5dv_devx_umem_dereg", Mlx5dv.mlx5dv_devx_umem_dereg$descriptor());
  public static final NativeFunction DEVX_ALLOC_UAR =
      function("mlx5dv_devx_alloc_uar", Mlx5dv.mlx5dv_devx_alloc_uar$descriptor());
  public static final NativeFunction DEVX_FREE_UAR =
      function("mlx5dv_devx_free_uar", Mlx5dv.mlx5dv_devx_free_uar$descriptor());
  public static final NativeFunction DEVX_QUERY_EQN =
      function("mlx5dv_devx_query_eqn", Mlx5dv.mlx5dv_devx_query_eqn$descriptor());

  private Mlx5Functions() {}

  private static NativeFunction function(String name, FunctionDescriptor descriptor) {
    return NativeFunction.of(Libraries.MLX5, name, descriptor);
  }
}
