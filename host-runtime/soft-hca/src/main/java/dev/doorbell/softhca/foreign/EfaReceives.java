package dev.doorbell.softhca.foreign;

import dev.doorbell.core.efa.generated.RxDescriptor;
import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.ReceiveSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The receive queue of an EFA queue pair, whose connections take receives of one buffer in the
 * order in which messages arrive.
 */
final class EfaReceives {
  private static final int MASK = 0xffff;

  private final DevicePort port;
  private final Memory ring;
  private final int entries;

  /** The newest count that was rung, 16 bits. Written on any thread. */
  private volatile int rung;

  private long produced;
  private long taken;

  EfaReceives(DevicePort port, Memory ring, int entries) {
    this.port = port;
    this.ring = ring;
    this.entries = entries;
  }

  long address() {
    return ring.address();
  }

  void ring(int count) {
    rung = count & MASK;
  }

  void restart() {
    rung = 0;
    produced = 0;
    taken = 0;
  }

  void close() {
    ring.close();
  }

  ReceiveSource source(QueuePairContext connection) {
    return new Source(connection);
  }

  /** One connection's share: the receive that it fills. */
  private final class Source extends ReceiveSource {
    private final QueuePairContext connection;
    private final MemorySegment staging = Arena.ofAuto().allocate(64, 64);
    private final long raw = staging.address();
    private final long segment = raw + 32;
    private final Completion completion = this::arrived;
    private boolean reading;
    private boolean here;

    Source(QueuePairContext connection) {
      this.connection = connection;
    }

    @Override
    public int prepare() {
      if (atHand) {
        return READY;
      }
      if (!reading) {
        produced += (rung - (int) produced) & MASK;
        if (taken == produced) {
          return EMPTY;
        }
        long slot = taken++ & (entries - 1);
        reading = true;
        here =
            port.read(
                ring.address() + slot * RxDescriptor.BYTES, raw, RxDescriptor.BYTES, completion);
      }
      if (!here) {
        return WAIT;
      }
      reading = false;
      atHand = true;
      ReceiveSegment.write(
          segment, RxDescriptor.length(raw), RxDescriptor.key(raw), RxDescriptor.address(raw));
      failed |= !RxDescriptor.isFirst(raw) || !RxDescriptor.isLast(raw);
      return READY;
    }

    private void arrived(boolean ok) {
      here = true;
      failed |= !ok;
      connection.activate();
    }

    @Override
    public long index() {
      return RxDescriptor.requestId(raw);
    }

    @Override
    public int segments() {
      return 1;
    }

    @Override
    public long segment(int number) {
      return segment;
    }
  }
}
