package dev.doorbell.verbs;

import dev.doorbell.verbs.generated.verbs.Verbs;

/** The functions of libibverbs that the control path calls. */
final class VerbsFunctions {
  static final NativeFunction GET_DEVICE_LIST =
      new NativeFunction(
          "ibv_get_device_list",
          Verbs.ibv_get_device_list$address(),
          Verbs.ibv_get_device_list$descriptor());

  static final NativeFunction FREE_DEVICE_LIST =
      new NativeFunction(
          "ibv_free_device_list",
          Verbs.ibv_free_device_list$address(),
          Verbs.ibv_free_device_list$descriptor());

  static final NativeFunction GET_DEVICE_NAME =
      new NativeFunction(
          "ibv_get_device_name",
          Verbs.ibv_get_device_name$address(),
          Verbs.ibv_get_device_name$descriptor());

  static final NativeFunction OPEN_DEVICE =
      new NativeFunction(
          "ibv_open_device", Verbs.ibv_open_device$address(), Verbs.ibv_open_device$descriptor());

  static final NativeFunction CLOSE_DEVICE =
      new NativeFunction(
          "ibv_close_device",
          Verbs.ibv_close_device$address(),
          Verbs.ibv_close_device$descriptor());

  static final NativeFunction QUERY_DEVICE =
      new NativeFunction(
          "ibv_query_device",
          Verbs.ibv_query_device$address(),
          Verbs.ibv_query_device$descriptor());

  static final NativeFunction QUERY_PORT =
      new NativeFunction(
          "ibv_query_port", Verbs.ibv_query_port$address(), Verbs.ibv_query_port$descriptor());

  static final NativeFunction QUERY_GID_EX =
      new NativeFunction(
          "_ibv_query_gid_ex",
          Verbs._ibv_query_gid_ex$address(),
          Verbs._ibv_query_gid_ex$descriptor());

  static final NativeFunction ALLOC_PD =
      new NativeFunction(
          "ibv_alloc_pd", Verbs.ibv_alloc_pd$address(), Verbs.ibv_alloc_pd$descriptor());

  static final NativeFunction DEALLOC_PD =
      new NativeFunction(
          "ibv_dealloc_pd", Verbs.ibv_dealloc_pd$address(), Verbs.ibv_dealloc_pd$descriptor());

  static final NativeFunction REG_MR_IOVA2 =
      new NativeFunction(
          "ibv_reg_mr_iova2",
          Verbs.ibv_reg_mr_iova2$address(),
          Verbs.ibv_reg_mr_iova2$descriptor());

  static final NativeFunction DEREG_MR =
      new NativeFunction(
          "ibv_dereg_mr", Verbs.ibv_dereg_mr$address(), Verbs.ibv_dereg_mr$descriptor());

  static final NativeFunction CREATE_CQ =
      new NativeFunction(
          "ibv_create_cq", Verbs.ibv_create_cq$address(), Verbs.ibv_create_cq$descriptor());

  static final NativeFunction DESTROY_CQ =
      new NativeFunction(
          "ibv_destroy_cq", Verbs.ibv_destroy_cq$address(), Verbs.ibv_destroy_cq$descriptor());

  static final NativeFunction CREATE_COMP_CHANNEL =
      new NativeFunction(
          "ibv_create_comp_channel",
          Verbs.ibv_create_comp_channel$address(),
          Verbs.ibv_create_comp_channel$descriptor());

  static final NativeFunction DESTROY_COMP_CHANNEL =
      new NativeFunction(
          "ibv_destroy_comp_channel",
          Verbs.ibv_destroy_comp_channel$address(),
          Verbs.ibv_destroy_comp_channel$descriptor());

  static final NativeFunction GET_CQ_EVENT =
      new NativeFunction(
          "ibv_get_cq_event",
          Verbs.ibv_get_cq_event$address(),
          Verbs.ibv_get_cq_event$descriptor());

  static final NativeFunction ACK_CQ_EVENTS =
      new NativeFunction(
          "ibv_ack_cq_events",
          Verbs.ibv_ack_cq_events$address(),
          Verbs.ibv_ack_cq_events$descriptor());

  static final NativeFunction CREATE_QP =
      new NativeFunction(
          "ibv_create_qp", Verbs.ibv_create_qp$address(), Verbs.ibv_create_qp$descriptor());

  static final NativeFunction MODIFY_QP =
      new NativeFunction(
          "ibv_modify_qp", Verbs.ibv_modify_qp$address(), Verbs.ibv_modify_qp$descriptor());

  static final NativeFunction QUERY_QP =
      new NativeFunction(
          "ibv_query_qp", Verbs.ibv_query_qp$address(), Verbs.ibv_query_qp$descriptor());

  static final NativeFunction DESTROY_QP =
      new NativeFunction(
          "ibv_destroy_qp", Verbs.ibv_destroy_qp$address(), Verbs.ibv_destroy_qp$descriptor());

  static final NativeFunction CREATE_AH =
      new NativeFunction(
          "ibv_create_ah", Verbs.ibv_create_ah$address(), Verbs.ibv_create_ah$descriptor());

  static final NativeFunction DESTROY_AH =
      new NativeFunction(
          "ibv_destroy_ah", Verbs.ibv_destroy_ah$address(), Verbs.ibv_destroy_ah$descriptor());

  static final NativeFunction GET_ASYNC_EVENT =
      new NativeFunction(
          "ibv_get_async_event",
          Verbs.ibv_get_async_event$address(),
          Verbs.ibv_get_async_event$descriptor());

  static final NativeFunction ACK_ASYNC_EVENT =
      new NativeFunction(
          "ibv_ack_async_event",
          Verbs.ibv_ack_async_event$address(),
          Verbs.ibv_ack_async_event$descriptor());

  private VerbsFunctions() {}
}
