package dev.doorbell.softhca.foreign;

import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.gpi.Descriptor;
import dev.doorbell.core.gpi.generated.GpiView;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.DeviceQueue;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.InlineSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.generated.AtomicSegment;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import dev.doorbell.softhca.foreign.ForeignQueuePair.FrontCompletions;
import dev.doorbell.softhca.objects.Completions;
import dev.doorbell.softhca.objects.ObjectOwner;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.ReceiveSource;
import dev.doorbell.softhca.queuepair.HcaObjects;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/**
 * A channel of NCCL's GPU-Push Interface: a ring of descriptors in memory of the NIC, which
 * executes them in order on a connection of its own choice, writes how far it took them, and counts
 * what is complete, in memory of the GPU. There is no doorbell: the NIC looks at the owner bits.
 *
 * <p>Here a channel has one peer, number 0. A handle is the index of a memory key, offsets are the
 * addresses that the region was registered with. Signals by index are not carried out: public
 * sources do not say how peers learn of each other's signals.
 */
public final class GpiQueuePair extends ForeignQueuePair {
  private static final int BLOCKS = 64;
  private static final int KEY_SHIFT = 8;
  private static final int CONSUMER_OFFSET = 0;
  private static final int COUNTER_OFFSET = 64;
  private static final int OLD_VALUE_OFFSET = 128;
  private static final int WORDS_BYTES = 192;

  private final DevicePort port;
  private final int depth;
  private final MemorySegment image = Arena.ofAuto().allocate(256, 64);
  private final boolean[] counted = new boolean[BLOCKS];

  /** Memory for the old values of atomics. */
  private final MemoryRegion oldValues;

  private long consumed;

  /** Completions that the counter counts, and whether one of them failed. */
  private long counter;

  private boolean bad;
  private boolean failing;

  /** Creates the channel with its connection. */
  public GpiQueuePair(
      HcaObjects objects,
      ObjectOwner owner,
      ProtectionDomain domain,
      QueuePairAttributes attributes,
      Memory words) {
    super(objects, owner, attributes, Descriptor.BYTES, words);
    this.port = hca.port();
    this.depth = attributes.sendBlocks();
    this.oldValues =
        domain.register(words, OLD_VALUE_OFFSET, Long.BYTES, EnumSet.of(AccessRight.LOCAL_WRITE));
    shadow.fill((byte) 0xff);
    open(1, BLOCKS);
  }

  /** Bytes that the NIC writes: consumer index, counter, old values. */
  public static long wordsBytes() {
    return WORDS_BYTES;
  }

  @Override
  public DeviceQueue deviceQueue() {
    GpiView view =
        new GpiView(
            sendRingAddress(),
            words.address() + CONSUMER_OFFSET,
            words.address() + COUNTER_OFFSET,
            Integer.numberOfTrailingZeros(depth),
            0,
            0);
    return new DeviceQueue(Promise.Queues.GPI, view.encode(), Descriptor.MAX_INLINE);
  }

  @Override
  public long receiveRingAddress() {
    return 0;
  }

  @Override
  Completions completions(int number) {
    return new FrontCompletions() {
      @Override
      void requested(int index, int syndrome) {
        finish(index, syndrome);
      }
    };
  }

  @Override
  @Nullable Completions receiveCompletions() {
    return null;
  }

  @Override
  public @Nullable ReceiveSource receives(QueuePairContext connection) {
    return null;
  }

  @Override
  void register(int offset, long value) {
    // There are none.
  }

  @Override
  void stored() {
    inform();
  }

  @Override
  void restart() {
    consumed = 0;
    counter = 0;
    bad = false;
    failing = false;
    shadow.fill((byte) 0xff);
  }

  @Override
  public void onError() {
    failing = true;
    first().activate();
  }

  @Override
  public int run() {
    SoftQueuePair connection = first();
    connection.requests.begin();
    if (!failing && connection.state() != QueuePairState.RTS) {
      return 0;
    }
    int work = 0;
    while (work < depth) {
      long slot = shadow.address() + (consumed & (depth - 1)) * Descriptor.BYTES;
      if (!Descriptor.isOwned(slot, consumed / depth)
          || (!failing && connection.wqes().room() < 1)) {
        break;
      }
      consumed++;
      work++;
      if (failing || !executes(slot)) {
        complete((Descriptor.flags(slot) & Descriptor.COUNTED) != 0, false);
      }
    }
    if (work > 0) {
      connection.activate();
      write(consumed, CONSUMER_OFFSET);
    }
    return work;
  }

  /** Makes a request of a descriptor; false when it cannot be carried out. */
  private boolean executes(long slot) {
    int operation = Descriptor.operation(slot);
    int bytes = Descriptor.size(slot);
    if (operation == (Descriptor.CONTROL | Descriptor.COUNTER_RESET)) {
      counter = 0;
      write(0, COUNTER_OFFSET);
      return true;
    }
    boolean inline = operation == Descriptor.WRITE_INLINE || operation == Descriptor.ATOMIC_ADD;
    if (Descriptor.peer(slot) != 0 || bytes < 0 || (inline && bytes > Descriptor.MAX_INLINE)) {
      return false;
    }
    long at = image.address() + ControlSegment.BYTES;
    int opcode =
        switch (operation) {
          case Descriptor.READ -> Opcode.RDMA_READ;
          case Descriptor.WRITE, Descriptor.WRITE_INLINE -> Opcode.RDMA_WRITE;
          case Descriptor.ATOMIC_ADD -> Opcode.ATOMIC_FA;
          case Descriptor.FLUSH -> Opcode.NOP;
          default -> -1;
        };
    if (opcode < 0) {
      return false;
    }
    if (opcode != Opcode.NOP) {
      RemoteAddressSegment.write(
          at, Descriptor.targetOffset(slot), Descriptor.targetHandle(slot) << KEY_SHIFT);
      at += RemoteAddressSegment.BYTES;
    }
    if (operation == Descriptor.ATOMIC_ADD) {
      AtomicSegment.write(at, Descriptor.inlineData(slot), 0);
      at += AtomicSegment.BYTES;
      DataSegment.write(at, Long.BYTES, oldValues.lkey(), words.address() + OLD_VALUE_OFFSET);
      at += DataSegment.BYTES;
    } else if (operation == Descriptor.WRITE_INLINE) {
      long scratch = hca.scratch();
      RawMemory.putLong(scratch, Descriptor.inlineData(slot));
      InlineSegment.write(at, scratch, bytes);
      at += InlineSegment.bytes(bytes);
    } else if (opcode != Opcode.NOP && bytes > 0) {
      DataSegment.write(
          at, bytes, Descriptor.sourceHandle(slot) << KEY_SHIFT, Descriptor.sourceOffset(slot));
      at += DataSegment.BYTES;
    }
    int units = (int) (at - image.address()) / SendQueue.UNIT;
    long index = first().wqes().next();
    ControlSegment.write(
        image.address(),
        0,
        (int) index,
        opcode,
        first().number,
        units,
        ControlSegment.CQ_UPDATE,
        0);
    first().wqes().append(image.address(), units);
    counted[(int) index & (BLOCKS - 1)] = (Descriptor.flags(slot) & Descriptor.COUNTED) != 0;
    return true;
  }

  private void finish(int index, int syndrome) {
    complete(counted[index & (BLOCKS - 1)], syndrome == 0);
    first().activate();
  }

  private void complete(boolean counts, boolean good) {
    if (!good) {
      bad = true;
      failing = true;
      if (first().state() != QueuePairState.ERR) {
        fail();
      }
    } else if (counts) {
      counter = (counter + 1) & Descriptor.COUNTER_MASK;
    }
    if (counts || !good) {
      write(counter | (bad ? Descriptor.COUNTER_ERROR : 0), COUNTER_OFFSET);
    }
  }

  private void write(long value, int offset) {
    long scratch = hca.scratch();
    RawMemory.putLong(scratch, value);
    port.write(scratch, words.address() + offset, Long.BYTES, false);
  }

  @Override
  void released() {
    oldValues.close();
  }
}
