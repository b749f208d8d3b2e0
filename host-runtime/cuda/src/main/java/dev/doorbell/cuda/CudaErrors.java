package dev.doorbell.cuda;

import dev.doorbell.core.gpu.GpuException;

/** Messages and fixes for results of the driver, {@code CUresult} in cuda.h. */
final class CudaErrors {
  static final int SUCCESS = 0;
  static final int OUT_OF_MEMORY = 2;
  static final int DEINITIALIZED = 4;
  static final int DEVICE_UNAVAILABLE = 46;
  static final int INVALID_PTX = 218;
  static final int UNSUPPORTED_PTX = 222;
  static final int ECC_UNCORRECTABLE = 214;
  static final int NVLINK_UNCORRECTABLE = 220;
  static final int NOT_READY = 600;
  static final int ILLEGAL_ADDRESS = 700;
  static final int LAUNCH_OUT_OF_RESOURCES = 701;
  static final int PEER_ACCESS_ALREADY_ENABLED = 704;
  static final int LAUNCH_TIMEOUT = 702;
  static final int CONTEXT_IS_DESTROYED = 709;
  static final int ASSERT = 710;
  static final int HOST_MEMORY_ALREADY_REGISTERED = 712;
  static final int HARDWARE_STACK_ERROR = 714;
  static final int ILLEGAL_INSTRUCTION = 715;
  static final int MISALIGNED_ADDRESS = 716;
  static final int INVALID_ADDRESS_SPACE = 717;
  static final int INVALID_PC = 718;
  static final int LAUNCH_FAILED = 719;
  static final int NOT_SUPPORTED = 801;
  static final int SYSTEM_NOT_READY = 802;
  static final int UNKNOWN = 999;

  private CudaErrors() {}

  /** Returns true if the context is unusable afterwards: every call would return the same. */
  static boolean isFatal(int code) {
    return switch (code) {
      case DEINITIALIZED,
          DEVICE_UNAVAILABLE,
          ECC_UNCORRECTABLE,
          NVLINK_UNCORRECTABLE,
          ILLEGAL_ADDRESS,
          LAUNCH_TIMEOUT,
          CONTEXT_IS_DESTROYED,
          ASSERT,
          HARDWARE_STACK_ERROR,
          ILLEGAL_INSTRUCTION,
          MISALIGNED_ADDRESS,
          INVALID_ADDRESS_SPACE,
          INVALID_PC,
          LAUNCH_FAILED,
          UNKNOWN ->
          true;
      default -> false;
    };
  }

  /** The exception for a result; {@code name} is the driver's name of the code. */
  static GpuException error(String what, int code, String name) {
    return new GpuException("%s: %s (%s)".formatted(what, explain(code), name));
  }

  static String explain(int code) {
    return switch (code) {
      case OUT_OF_MEMORY ->
          "out of GPU memory; use less, or find the other users with 'nvidia-smi'";
      case ILLEGAL_ADDRESS ->
          "a kernel accessed an illegal address; run it on the PTX VM (gpu: vm), which names line,"
              + " thread and address";
      case MISALIGNED_ADDRESS ->
          "a kernel accessed a misaligned address; run it on the PTX VM (gpu: vm), which names"
              + " line, thread and address";
      case INVALID_ADDRESS_SPACE, INVALID_PC, ILLEGAL_INSTRUCTION, HARDWARE_STACK_ERROR ->
          "a kernel executed an invalid instruction or address; run it on the PTX VM (gpu: vm),"
              + " which names line and thread";
      case LAUNCH_FAILED ->
          "a kernel trapped or failed; run it on the PTX VM (gpu: vm), which names line and thread";
      case ASSERT -> "an assertion of a kernel failed; the driver has printed which";
      case LAUNCH_TIMEOUT ->
          "the driver stopped a kernel that ran too long; use a GPU without a display, or shorter"
              + " kernels";
      case LAUNCH_OUT_OF_RESOURCES ->
          "the launch needs more registers or shared memory than a block can have; use fewer"
              + " threads";
      case DEVICE_UNAVAILABLE, SYSTEM_NOT_READY ->
          "the GPU is not available; see what 'nvidia-smi' says";
      case ECC_UNCORRECTABLE, NVLINK_UNCORRECTABLE, UNKNOWN ->
          "the GPU is lost; see 'nvidia-smi' and the kernel log (dmesg, 'NVRM: Xid')";
      case CONTEXT_IS_DESTROYED, DEINITIALIZED -> "the GPU's context is gone";
      case UNSUPPORTED_PTX -> "the driver does not know this PTX version; update the driver";
      case INVALID_PTX -> "the driver's compiler refuses the PTX";
      case HOST_MEMORY_ALREADY_REGISTERED -> "a part of the range is registered already";
      case NOT_SUPPORTED -> "this GPU or its driver cannot do that";
      default -> "the driver answers " + code;
    };
  }
}
