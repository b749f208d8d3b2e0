package dev.doorbell.verbs;

import dev.doorbell.verbs.generated.mlx5dv.Mlx5dv;

/** The functions of libmlx5 that the control path calls. */
final class Mlx5Functions {
  static final NativeFunction IS_SUPPORTED =
      new NativeFunction(
          "mlx5dv_is_supported",
          Mlx5dv.mlx5dv_is_supported$address(),
          Mlx5dv.mlx5dv_is_supported$descriptor());

  static final NativeFunction OPEN_DEVICE =
      new NativeFunction(
          "mlx5dv_open_device",
          Mlx5dv.mlx5dv_open_device$address(),
          Mlx5dv.mlx5dv_open_device$descriptor());

  static final NativeFunction INIT_OBJ =
      new NativeFunction(
          "mlx5dv_init_obj", Mlx5dv.mlx5dv_init_obj$address(), Mlx5dv.mlx5dv_init_obj$descriptor());

  static final NativeFunction DEVX_GENERAL_CMD =
      new NativeFunction(
          "mlx5dv_devx_general_cmd",
          Mlx5dv.mlx5dv_devx_general_cmd$address(),
          Mlx5dv.mlx5dv_devx_general_cmd$descriptor());

  static final NativeFunction DEVX_OBJ_CREATE =
      new NativeFunction(
          "mlx5dv_devx_obj_create",
          Mlx5dv.mlx5dv_devx_obj_create$address(),
          Mlx5dv.mlx5dv_devx_obj_create$descriptor());

  static final NativeFunction DEVX_OBJ_MODIFY =
      new NativeFunction(
          "mlx5dv_devx_obj_modify",
          Mlx5dv.mlx5dv_devx_obj_modify$address(),
          Mlx5dv.mlx5dv_devx_obj_modify$descriptor());

  static final NativeFunction DEVX_OBJ_QUERY =
      new NativeFunction(
          "mlx5dv_devx_obj_query",
          Mlx5dv.mlx5dv_devx_obj_query$address(),
          Mlx5dv.mlx5dv_devx_obj_query$descriptor());

  static final NativeFunction DEVX_OBJ_DESTROY =
      new NativeFunction(
          "mlx5dv_devx_obj_destroy",
          Mlx5dv.mlx5dv_devx_obj_destroy$address(),
          Mlx5dv.mlx5dv_devx_obj_destroy$descriptor());

  static final NativeFunction DEVX_UMEM_REG =
      new NativeFunction(
          "mlx5dv_devx_umem_reg",
          Mlx5dv.mlx5dv_devx_umem_reg$address(),
          Mlx5dv.mlx5dv_devx_umem_reg$descriptor());

  static final NativeFunction DEVX_UMEM_DEREG =
      new NativeFunction(
          "mlx5dv_devx_umem_dereg",
          Mlx5dv.mlx5dv_devx_umem_dereg$address(),
          Mlx5dv.mlx5dv_devx_umem_dereg$descriptor());

  static final NativeFunction DEVX_ALLOC_UAR =
      new NativeFunction(
          "mlx5dv_devx_alloc_uar",
          Mlx5dv.mlx5dv_devx_alloc_uar$address(),
          Mlx5dv.mlx5dv_devx_alloc_uar$descriptor());

  static final NativeFunction DEVX_FREE_UAR =
      new NativeFunction(
          "mlx5dv_devx_free_uar",
          Mlx5dv.mlx5dv_devx_free_uar$address(),
          Mlx5dv.mlx5dv_devx_free_uar$descriptor());

  static final NativeFunction DEVX_QUERY_EQN =
      new NativeFunction(
          "mlx5dv_devx_query_eqn",
          Mlx5dv.mlx5dv_devx_query_eqn$address(),
          Mlx5dv.mlx5dv_devx_query_eqn$descriptor());

  static final NativeFunction DEVX_CREATE_EVENT_CHANNEL =
      new NativeFunction(
          "mlx5dv_devx_create_event_channel",
          Mlx5dv.mlx5dv_devx_create_event_channel$address(),
          Mlx5dv.mlx5dv_devx_create_event_channel$descriptor());

  static final NativeFunction DEVX_DESTROY_EVENT_CHANNEL =
      new NativeFunction(
          "mlx5dv_devx_destroy_event_channel",
          Mlx5dv.mlx5dv_devx_destroy_event_channel$address(),
          Mlx5dv.mlx5dv_devx_destroy_event_channel$descriptor());

  static final NativeFunction DEVX_SUBSCRIBE_EVENT =
      new NativeFunction(
          "mlx5dv_devx_subscribe_devx_event",
          Mlx5dv.mlx5dv_devx_subscribe_devx_event$address(),
          Mlx5dv.mlx5dv_devx_subscribe_devx_event$descriptor());

  static final NativeFunction DEVX_GET_EVENT =
      new NativeFunction(
          "mlx5dv_devx_get_event",
          Mlx5dv.mlx5dv_devx_get_event$address(),
          Mlx5dv.mlx5dv_devx_get_event$descriptor());

  private Mlx5Functions() {}
}
