package dev.doorbell.experiments.scenario.recovery;

import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.OperationView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Messages that the threads of a kernel post: puts, each thread to a few places of its own again
 * and again, so that a put that is applied late or twice shows; and fetch-adds of 1 to one cell by
 * all of them, so that each value is fetched by exactly one.
 *
 * <p>Layout of a buffer, {@code n} operations each: the cell; at rank 0 then a result and a payload
 * for each operation; at rank 1 the places.
 */
final class Traffic {
  private static final int PLACES = 4;
  private static final int ATOMIC_EVERY = 4;
  private static final int HEAD = 64;

  private final int threads;
  private final int operations;
  private final int bytes;
  private final boolean immediate;
  private final Memory sender;
  private final Memory receiver;
  private final boolean[] atomic;
  private final byte[] payload;

  Traffic(Ports ports, SupervisedKernel.Shape shape, long seed) {
    this(ports, shape.threads(), shape.operations(), shape.bytes(), shape.immediate(), seed);
  }

  private Traffic(
      Ports ports, int threads, int operations, int bytes, boolean immediate, long seed) {
    this.immediate = immediate;
    this.threads = threads;
    this.operations = operations;
    this.bytes = bytes;
    this.sender = ports.buffer(0);
    this.receiver = ports.buffer(1);
    SplittableRandom random = new SplittableRandom(seed);
    atomic = new boolean[threads * operations];
    for (int i = 0; i < atomic.length; i++) {
      atomic[i] = random.nextInt(ATOMIC_EVERY) == 0;
    }
    payload = new byte[atomic.length * bytes];
    random.nextBytes(payload);
    sender.putBytes(payloadAt(0), payload);
    sender.fill(HEAD, (long) atomic.length * Long.BYTES, (byte) 0xff);
  }

  static long bufferBytes(int threads, int operations, int bytes) {
    return HEAD + (long) threads * operations * (Long.BYTES + bytes);
  }

  int messages() {
    return atomic.length;
  }

  private long payloadAt(int operation) {
    return HEAD + (long) atomic.length * Long.BYTES + (long) operation * bytes;
  }

  private int place(int operation) {
    int thread = operation / operations;
    return HEAD + (thread * PLACES + operation % PLACES) * bytes;
  }

  byte[] lists(Ports ports, int port) {
    byte[] all = new byte[atomic.length * OperationView.BYTES];
    int put = immediate ? JobView.OP_PUT_IMM : JobView.OP_PUT;
    for (int i = 0; i < atomic.length; i++) {
      OperationView one =
          new OperationView(
              sender.address() + (atomic[i] ? HEAD + (long) i * Long.BYTES : payloadAt(i)),
              receiver.address() + (atomic[i] ? 0 : place(i)),
              bytes,
              1,
              0,
              0,
              0,
              ports.key(0, port),
              ports.key(1, port),
              atomic[i] ? JobView.OP_FETCH_ADD : put,
              0,
              0);
      System.arraycopy(one.encode(), 0, all, i * OperationView.BYTES, OperationView.BYTES);
    }
    return all;
  }

  /** Faults in the peer's memory and in the fetched values. */
  record Verdict(long lostBytes, int atomicsLost, int atomicsTwice, long verifiedBytes) {
    @Nullable String text() {
      return lostBytes == 0 && atomicsLost == 0 && atomicsTwice == 0
          ? null
          : "%d bytes of puts are not there as they should be; %d atomics are missing, %d were applied twice"
              .formatted(lostBytes, atomicsLost, atomicsTwice);
    }
  }

  Verdict verdict() {
    byte[] expected = new byte[threads * PLACES * bytes];
    byte[] got = receiver.getBytes(HEAD, expected.length);
    for (int i = 0; i < atomic.length; i++) {
      if (!atomic[i]) {
        System.arraycopy(payload, i * bytes, expected, place(i) - HEAD, bytes);
      }
    }
    long lost = 0;
    for (int i = 0; i < got.length; i++) {
      lost += got[i] == expected[i] ? 0 : 1;
    }
    List<Long> fetched = new ArrayList<>();
    int missing = 0;
    for (int i = 0; i < atomic.length; i++) {
      if (atomic[i]) {
        long value = sender.getLong(HEAD + (long) i * Long.BYTES);
        missing += value == -1 ? 1 : 0;
        fetched.add(value);
      }
    }
    int distinct = (int) fetched.stream().filter(value -> value >= 0).distinct().count();
    long cell = receiver.getLong(0);
    int twice =
        (int) Math.max(Math.max(0, cell - fetched.size()), fetched.size() - missing - distinct);
    missing += (int) Math.max(0, fetched.size() - cell);
    return new Verdict(lost, missing, twice, got.length + (long) fetched.size() * Long.BYTES);
  }

  /** The fetched values of one thread have to rise: its operations are applied in its order. */
  @Nullable String disorder() {
    long[] last = new long[threads];
    Arrays.fill(last, -1);
    for (int i = 0; i < atomic.length; i++) {
      if (atomic[i]) {
        long value = sender.getLong(HEAD + (long) i * Long.BYTES);
        int thread = i / operations;
        if (value <= last[thread]) {
          return "operation %d of thread %d fetched %d after %d"
              .formatted(i % operations, thread, value, last[thread]);
        }
        last[thread] = value;
      }
    }
    return null;
  }
}
