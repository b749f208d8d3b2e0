package dev.doorbell.core.uverbs.generated;

import javax.annotation.processing.Generated;

/**
 * Numbers of the protocol between the preload library and the server:
 * host-runtime/uverbs-shim/protocol.h.
 *
 * <p>Written by FormatsTest from src/main/formats/uverbs.txt.
 */
@Generated("FormatsTest")
public class ShimProtocol {
  public static final int MAGIC = 0x5655_4244;

  public static final int VERSION = 9;

  public static final int KIND_DEVICE = 1;

  public static final int KIND_EVENTS = 2;

  public static final int KIND_CONNECTIONS = 3;

  public static final int KIND_GPUS = 4;

  public static final int KIND_CONTROL = 5;

  /** The device is one that the parent of the process has open. */
  public static final int INHERITED = 1;

  public static final int PORT_REFRESH = 0;

  public static final int IOCTL = 1;

  public static final int REQUEUE = 2;

  public static final int ANSWER = 3;

  public static final int SHARE = 4;

  public static final int CONNECTION_COMMAND = 6;

  public static final int GPU_MEMORY = 7;

  public static final int HELD = 8;

  public static final int FREED = 9;

  public static final int LAST = 10;

  public static final int DO_SHARE = 1;

  public static final int DO_UNSHARE = 2;

  public static final int DO_DISCARD = 3;

  public static final int DO_EVENTS = 4;

  public static final int DO_DRAIN = 5;

  public static final int DO_TAKE = 6;

  public static final int DO_EXPORT = 7;

  public static final int AWAKE = 0;

  public static final int ASLEEP = 1;

  protected ShimProtocol() {}
}
