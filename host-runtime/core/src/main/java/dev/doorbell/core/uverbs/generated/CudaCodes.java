package dev.doorbell.core.uverbs.generated;

import javax.annotation.processing.Generated;

/**
 * Error codes of {@code cuda.h}, most of which are those of {@code driver_types.h} as well.
 *
 * <p>Written by FormatsTest from src/main/formats/uverbs.txt.
 */
@Generated("FormatsTest")
public class CudaCodes {
  public static final int SUCCESS = 0;

  public static final int INVALID_VALUE = 1;

  public static final int OUT_OF_MEMORY = 2;

  public static final int NO_BINARY = 209;

  public static final int INVALID_PTX = 218;

  public static final int INVALID_HANDLE = 400;

  public static final int NOT_FOUND = 500;

  public static final int NOT_READY = 600;

  public static final int ILLEGAL_ADDRESS = 700;

  public static final int LAUNCH_TIMEOUT = 702;

  public static final int ASSERT = 710;

  public static final int MISALIGNED = 716;

  public static final int LAUNCH_FAILED = 719;

  protected CudaCodes() {}
}
