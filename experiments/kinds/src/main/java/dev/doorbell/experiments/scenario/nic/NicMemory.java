package dev.doorbell.experiments.scenario.nic;

import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.push.generated.PushRingView;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.generated.ErrorRecord;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.experiments.scenario.kernel.KernelStatus;
import dev.doorbell.experiments.scenario.nic.NicShape.NicPath;
import dev.doorbell.experiments.scenario.world.Owned;
import java.util.ArrayList;
import java.util.List;

/**
 * The queues of one run. What the NIC polls and what is pushed to it lies in its memory; rings,
 * completions, credits and counters lie in the sender's.
 */
final class NicMemory implements AutoCloseable {
  /** Bytes of one queue's {@code shared_state} in gpu_nic.cuh. */
  static final int STATE_BYTES = 256;

  /** Offset of the count of what is reported. */
  static final int STATE_REPORTED = 128;

  private static final int BLOCK = 64;
  private static final int WORD_LINE = 256;
  private static final int MAX_INLINE = 28;
  private static final int FIRST_NUMBER = 0x100;

  final Owned owned = new Owned();

  /** Views of the queues in the sender's memory, and in the NIC's. */
  final long views;

  final long nicViews;

  /** Address and bytes of the staging area in the NIC's memory, or 0. */
  final long staging;

  final long stagingBytes;
  final Memory state;

  private final GpuPair gpus;
  private final NicShape shape;
  private final long deadlineNanos;
  private final List<Memory> errors = new ArrayList<>();

  NicMemory(GpuPair gpus, NicShape shape, long deadlineNanos) {
    this.gpus = gpus;
    this.shape = shape;
    this.deadlineNanos = deadlineNanos;
    int queues = shape.producers();
    this.state = at(gpus.nic(), (long) queues * STATE_BYTES, "NIC state");
    if (shape.path().pushes()) {
      Memory area = at(gpus.nic(), (long) queues * shape.slots() * shape.size(), "staging");
      this.staging = area.address();
      this.stagingBytes = area.size();
    } else {
      this.staging = 0;
      this.stagingBytes = 0;
    }
    byte[] written = shape.path() == NicPath.PUSH_RING ? rings() : queuePairs();
    this.views = copyTo(gpus.sender(), written);
    this.nicViews = copyTo(gpus.nic(), written);
  }

  private long copyTo(Gpu gpu, byte[] bytes) {
    Memory memory = at(gpu, bytes.length, "queue views");
    memory.putBytes(0, bytes);
    return memory.address();
  }

  private byte[] queuePairs() {
    int queues = shape.producers();
    int depth = shape.depth();
    Gpu sender = gpus.sender();
    long ring = (long) depth * BLOCK;
    long counters = Abi.countersBytes(depth);
    Memory sends = at(sender, queues * ring, "send rings");
    Memory completions = at(sender, queues * ring, "completion rings");
    completions.fill(0, completions.size(), (byte) 0xff);
    Memory records = at(sender, (long) queues * WORD_LINE, "doorbell records");
    Memory doorbells = at(gpus.nic(), (long) queues * WORD_LINE, "doorbells");
    byte[] written = new byte[queues * QueuePairView.BYTES];
    for (int i = 0; i < queues; i++) {
      Memory counted = at(sender, counters, "counters");
      Memory error = owned.add(sender.allocate(MemoryKind.HOST, ErrorRecord.BYTES, "error record"));
      errors.add(error);
      QueuePairView view =
          new QueuePairView(
              sends.address() + i * ring,
              records.address() + (long) i * WORD_LINE,
              doorbells.address() + (long) i * WORD_LINE,
              completions.address() + i * ring,
              records.address() + (long) i * WORD_LINE + BLOCK,
              counted.address(),
              error.address(),
              0,
              0,
              deadlineNanos,
              depth,
              depth,
              FIRST_NUMBER + i,
              // The NIC is another GPU, a doorbell is a word of memory, and a block is alone.
              QueuePairView.FLAG_SCOPE_SYSTEM
                  | QueuePairView.FLAG_NO_RECORD
                  | QueuePairView.FLAG_EXCLUSIVE,
              0,
              1,
              MAX_INLINE,
              i);
      System.arraycopy(view.encode(), 0, written, i * QueuePairView.BYTES, QueuePairView.BYTES);
    }
    return written;
  }

  private byte[] rings() {
    int queues = shape.producers();
    int slots = shape.slots();
    Memory headers = at(gpus.nic(), (long) queues * slots * BLOCK, "headers");
    Memory words = at(gpus.nic(), 2L * queues * WORD_LINE, "doorbells");
    Memory credits = at(gpus.sender(), (long) queues * WORD_LINE, "credits");
    Memory counters = at(gpus.sender(), (long) queues * WORD_LINE, "counters");
    byte[] written = new byte[queues * PushRingView.BYTES];
    for (int i = 0; i < queues; i++) {
      PushRingView view =
          new PushRingView(
              headers.address() + (long) i * slots * BLOCK,
              staging + (long) i * slots * shape.size(),
              words.address() + (2L * i + 1) * WORD_LINE,
              words.address() + 2L * i * WORD_LINE,
              credits.address() + (long) i * WORD_LINE,
              counters.address() + (long) i * WORD_LINE,
              deadlineNanos,
              slots,
              slots,
              shape.size(),
              1,
              i,
              1,
              0);
      System.arraycopy(view.encode(), 0, written, i * PushRingView.BYTES, PushRingView.BYTES);
    }
    return written;
  }

  Memory at(Gpu gpu, long bytes, String label) {
    return owned.add(gpu.allocate(MemoryKind.DEVICE, bytes, label));
  }

  long reported(int queue) {
    return state.getLong((long) queue * STATE_BYTES + STATE_REPORTED);
  }

  String errorText() {
    return KernelStatus.errorText(
        errors.stream()
            .map(each -> ErrorRecord.decode(each.getBytes(0, ErrorRecord.BYTES)))
            .toList());
  }

  @Override
  public void close() {
    owned.close();
  }
}
