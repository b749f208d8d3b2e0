package dev.doorbell.verbs.library;

import dev.doorbell.verbs.generated.verbs.Verbs;
import java.lang.foreign.FunctionDescriptor;

/** The functions of libibverbs that the control path calls. */
public final class VerbsFunctions {
  public static final NativeFunction GET_DEVICE_LIST =
      function("ibv_get_device_list", Verbs.ibv_get_device_list$descriptor());
  public static final NativeFunction FREE_DEVICE_LIST =
      function("ibv_free_device_list", Verbs.ibv_free_device_list$descriptor());
  public static final NativeFunction GET_DEVICE_NAME =
      function("ibv_get_device_name", Verbs.ibv_get_device_name$descriptor());
  public static final NativeFunction CLOSE_DEVICE =
      function("ibv_close_device", Verbs.ibv_close_device$descriptor());
  public static final NativeFunction QUERY_DEVICE =
      function("ibv_query_device", Verbs.ibv_query_device$descriptor());
  public static final NativeFunction QUERY_PORT =
      function("ibv_query_port", Verbs.ibv_query_port$descriptor());
  public static final NativeFunction QUERY_GID_EX =
      function("_ibv_query_gid_ex", Verbs._ibv_query_gid_ex$descriptor());
  public static final NativeFunction ALLOC_PD =
      function("ibv_alloc_pd", Verbs.ibv_alloc_pd$descriptor());
  public static final NativeFunction DEALLOC_PD =
      function("ibv_dealloc_pd", Verbs.ibv_dealloc_pd$descriptor());
  public static final NativeFunction REG_MR_IOVA2 =
      function("ibv_reg_mr_iova2", Verbs.ibv_reg_mr_iova2$descriptor());
  public static final NativeFunction DEREG_MR =
      function("ibv_dereg_mr", Verbs.ibv_dereg_mr$descriptor());
  public static final NativeFunction CREATE_AH =
      function("ibv_create_ah", Verbs.ibv_create_ah$descriptor());
  public static final NativeFunction DESTROY_AH =
      function("ibv_destroy_ah", Verbs.ibv_destroy_ah$descriptor());

  private VerbsFunctions() {}

  private static NativeFunction function(String name, FunctionDescriptor descriptor) {
    return NativeFunction.of(Libraries.VERBS, name, descriptor);
  }
}
