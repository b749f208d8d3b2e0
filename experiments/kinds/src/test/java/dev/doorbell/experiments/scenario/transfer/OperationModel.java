package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.queue.JobView;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What operations do to two areas of memory, in plain arrays, one after the other. */
final class OperationModel {
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** Where old values of shared words landed, and what was added to them. */
  private record Addition(int landed, long added) {}

  private final byte[] local;
  private final byte[] remote;
  private final List<List<Addition>> additions = new ArrayList<>();
  private final long[] before = new long[OperationBench.SHARED];

  /** Starts with copies of what the areas hold. */
  OperationModel(byte[] local, byte[] remote) {
    this.local = local.clone();
    this.remote = remote.clone();
    for (int i = 0; i < OperationBench.SHARED; i++) {
      additions.add(new ArrayList<>());
    }
  }

  byte[] local() {
    return local;
  }

  byte[] remote() {
    return remote;
  }

  void execute(OperationLists lists) {
    for (int i = 0; i < OperationBench.SHARED; i++) {
      additions.get(i).clear();
      before[i] = word(remote, OperationBench.WORDS + i * Long.BYTES);
    }
    for (List<Operation> list : lists.lists()) {
      list.stream().filter(Operation::expressible).forEach(this::execute);
    }
  }

  private void execute(Operation operation) {
    Slab from = operation.local();
    Slab to = operation.remote();
    switch (operation.opcode()) {
      case JobView.OP_PUT, JobView.OP_PUT_INLINE ->
          System.arraycopy(local, from.offset(), remote, to.offset(), from.bytes());
      case JobView.OP_GET ->
          System.arraycopy(remote, to.offset(), local, from.offset(), from.bytes());
      case JobView.OP_PUT_SIGNAL -> {
        System.arraycopy(local, from.offset(), remote, to.offset(), from.bytes());
        add(operation.signal(), operation.fetched(), operation.operand());
      }
      case JobView.OP_FETCH_ADD -> {
        add(to, from, operation.operand());
        if (operation.shared()) {
          additions
              .get((to.offset() - OperationBench.WORDS) / Long.BYTES)
              .add(new Addition(from.offset(), operation.operand()));
        }
      }
      case JobView.OP_COMPARE_SWAP -> {
        long old = word(remote, to.offset());
        if (old == operation.compare()) {
          WORD.set(remote, to.offset(), operation.operand());
        }
        WORD.set(local, from.offset(), old);
      }
      default -> throw new IllegalArgumentException("opcode " + operation.opcode());
    }
  }

  private void add(Slab word, Slab fetched, long operand) {
    long old = word(remote, word.offset());
    WORD.set(remote, word.offset(), old + operand);
    WORD.set(local, fetched.offset(), old);
  }

  /**
   * Posters add to shared words in an order that nobody fixes: the values they fetched have to be
   * those of some order. Takes them over into the model, so that what is left can be compared.
   *
   * @return what is wrong with them, or null
   */
  @Nullable String adoptShared(byte[] actual) {
    for (int i = 0; i < OperationBench.SHARED; i++) {
      List<Addition> ordered = new ArrayList<>(additions.get(i));
      ordered.sort(Comparator.comparingLong(addition -> word(actual, addition.landed())));
      long expected = before[i];
      for (Addition addition : ordered) {
        long fetched = word(actual, addition.landed());
        if (fetched != expected) {
          return "shared word %d: somebody fetched %d where %d is due"
              .formatted(i, fetched, expected);
        }
        expected += addition.added();
        WORD.set(local, addition.landed(), fetched);
      }
    }
    return null;
  }

  private static long word(byte[] area, int offset) {
    return (long) WORD.get(area, offset);
  }
}
