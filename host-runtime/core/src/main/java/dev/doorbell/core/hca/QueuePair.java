package dev.doorbell.core.hca;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair: addresses of its queues for posters, and its state machine.
 *
 * <p>Transitions out of order throw {@link HcaException} and change nothing.
 */
public interface QueuePair extends AutoCloseable {
  /** Its 24-bit number. */
  int number();

  QueuePairAttributes attributes();

  QueuePairState state();

  /** Returns the address that the peer needs for {@link #toRtr}. */
  QueuePairAddress address();

  long sendRingAddress();

  /** Address of the receive ring, or 0. */
  long receiveRingAddress();

  /** Address of the 8-byte doorbell record: receive counter, send counter. */
  long recordAddress();

  /**
   * Host address of the doorbell register; give it to {@code Gpu.mapDeviceRegisters} for kernels.
   */
  long doorbellAddress();

  /**
   * Host address of the device's own doorbell register, which a GPU of this machine may be able to
   * map; where it is not, {@link #doorbellAddress} serves, which a CPU thread may have to relay.
   */
  default long deviceRegisterAddress() {
    return doorbellAddress();
  }

  /**
   * Bytes of one BlueFlame half at {@link #doorbellAddress}; the other half follows it. 0: none.
   */
  int blueFlameBytes();

  /**
   * Returns how kernels post where work requests are not mlx5's; its data about the peer are right
   * from RTR on. Null where they are mlx5's.
   */
  default @Nullable DeviceQueue deviceQueue() {
    return null;
  }

  /** RESET to INIT. */
  void toInit(Set<AccessRight> rights);

  /** INIT to RTR: connects to {@code peer}. */
  void toRtr(QueuePairAddress peer, ConnectionAttributes attributes);

  /**
   * INIT to RTR for datagrams, which have no peer.
   *
   * @throws HcaException for a connected transport
   */
  void toRtr(ConnectionAttributes attributes);

  /**
   * RTR to RTS.
   *
   * @param attributes whose partition key is the one of RTR: verbs cannot change it here
   */
  void toRts(ConnectionAttributes attributes);

  /** Any state but RESET to ERR: what is outstanding is flushed. */
  void toError();

  /** Any state to RESET: indices start again at 0, nothing is flushed. */
  void toReset();

  /**
   * Returns this end's progress with its peer's requests. Ask in ERR, when nothing is executed any
   * more; a reset forgets it.
   *
   * @return null where the device cannot tell, or nothing is connected
   */
  default @Nullable ExecutedRequests executed() {
    return null;
  }

  /** RESET to RTS in one call. */
  default void connect(
      QueuePairAddress peer, Set<AccessRight> rights, ConnectionAttributes attributes) {
    toInit(rights);
    toRtr(peer, attributes);
    toRts(attributes);
  }

  @Override
  void close();
}
