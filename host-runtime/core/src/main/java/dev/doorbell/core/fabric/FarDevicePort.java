package dev.doorbell.core.fabric;

import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * DMA at once to memory of the host, and by way of engines to {@linkplain DmaEngine far memory}.
 *
 * <p>An engine keeps the order of its own transfers. What goes elsewhere than to the engine that is
 * still writing waits for it, and whatever follows waits behind: posted writes of one device arrive
 * in the order in which it made them, wherever they go, and a reader of the host who sees a
 * completion finds what it completes in the GPU. Relaxed writes wait for no other.
 */
final class FarDevicePort extends DevicePort {
  private static final int CHUNK = 4096;
  private static final int ENTRY = 64;

  private enum Kind {
    READ,
    WRITE,
    ENTRY,
    ATOMIC
  }

  /** A transfer that waits for its turn, and room for its bytes. */
  private static final class Waiting {
    private final MemorySegment bytes = Arena.ofAuto().allocate(CHUNK, ENTRY);
    private Kind kind = Kind.WRITE;
    private long address;
    private long target;
    private int size;
    private @Nullable Completion completion;
    private @Nullable AtomicFunction atomic;
  }

  private final DevicePort near;
  private final FarMemory far;
  private final Completion written = this::written;

  /** The engine with writes of this device under way, and how many. */
  private @Nullable DmaEngine writing;

  private int unsettled;
  private boolean atomicRuns;

  private final Deque<Waiting> waiting = new ArrayDeque<>();

  /** Those that have had their turn, for the next ones. */
  private final Deque<Waiting> spare = new ArrayDeque<>();

  /** The new value of the atomic that runs; there is one at a time. */
  private final MemorySegment cell = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);

  FarDevicePort(DevicePort near, FarMemory far) {
    this.near = near;
    this.far = far;
  }

  /** In place only where nothing of this device waits that the reader would have to see. */
  @Override
  public long map(long address, int size) {
    return far.engine(address, size) == null && isOrdered() ? near.map(address, size) : 0;
  }

  /** An entry says that what came before it is there: it takes its turn. */
  @Override
  public long mapEntry(long address) {
    return 0;
  }

  @Override
  public boolean read(long address, long target, int size, Completion completion) {
    if (!isOrdered()) {
      Waiting turn = queue(Kind.READ, address, size);
      turn.target = target;
      turn.completion = completion;
      return false;
    }
    return readNow(address, target, size, completion);
  }

  private boolean readNow(long address, long target, int size, Completion completion) {
    DmaEngine engine = far.engine(address, size);
    if (engine == null) {
      return near.read(address, target, size, completion);
    }
    engine.read(address, target, size, completion);
    return false;
  }

  @Override
  public void write(long source, long address, int size, boolean relaxed) {
    writeThen(source, address, size, relaxed, null);
  }

  @Override
  public boolean writeThen(
      long source, long address, int size, boolean relaxed, @Nullable Completion visible) {
    if (relaxed || mayWrite(address, size)) {
      return writeNow(source, address, size, relaxed, visible);
    }
    for (int done = 0; done < size; done += CHUNK) {
      int part = Math.min(CHUNK, size - done);
      Waiting turn = queue(Kind.WRITE, address + done, part);
      RawMemory.copy(source + done, turn.bytes.address(), part);
      turn.completion = done + part == size ? visible : null;
    }
    return false;
  }

  private boolean writeNow(
      long source, long address, int size, boolean relaxed, @Nullable Completion visible) {
    DmaEngine engine = far.engine(address, size);
    if (engine == null) {
      near.write(source, address, size, relaxed);
      return true;
    }
    if (relaxed) {
      engine.write(source, address, size, visible);
      return false;
    }
    writing = engine;
    unsettled++;
    engine.write(
        source,
        address,
        size,
        visible == null
            ? written
            : ok -> {
              visible.completed(ok);
              written(ok);
            });
    return false;
  }

  @Override
  public void writeEntry(long source, long address) {
    if (mayWrite(address, ENTRY)) {
      writeEntryNow(source, address);
    } else {
      RawMemory.copy(source, queue(Kind.ENTRY, address, ENTRY).bytes.address(), ENTRY);
    }
  }

  private void writeEntryNow(long source, long address) {
    if (far.engine(address, ENTRY) == null) {
      near.writeEntry(source, address);
    } else {
      // An engine's last 8 bytes come last, and together.
      writeNow(source, address, ENTRY, false, null);
    }
  }

  @Override
  public boolean atomic(
      long address, int size, long result, AtomicFunction atomic, Completion completion) {
    DmaEngine engine = far.engine(address, size);
    if (engine == null && mayWrite(address, size)) {
      return near.atomic(address, size, result, atomic, completion);
    }
    Waiting turn = queue(Kind.ATOMIC, address, size);
    turn.target = result;
    turn.atomic = atomic;
    turn.completion = completion;
    if (waiting.size() == 1) {
      goOn();
    }
    return false;
  }

  private void atomicNow(DmaEngine engine, Waiting turn) {
    long address = turn.address;
    long result = turn.target;
    int size = turn.size;
    AtomicFunction atomic = require(turn.atomic);
    Completion completion = require(turn.completion);
    long changed = cell.address();
    atomicRuns = true;
    far.atomic(
        () ->
            engine.read(
                address,
                result,
                size,
                read -> {
                  long old =
                      size == Integer.BYTES
                          ? RawMemory.getInt(result) & 0xffff_ffffL
                          : RawMemory.getLong(result);
                  RawMemory.putLong(changed, atomic.apply(old));
                  engine.write(
                      changed,
                      address,
                      size,
                      ok -> {
                        far.atomicEnded();
                        atomicRuns = false;
                        completion.completed(ok);
                        goOn();
                      });
                }));
  }

  /** True when nothing waits for its turn. */
  private boolean isOrdered() {
    return waiting.isEmpty() && !atomicRuns;
  }

  private boolean mayWrite(long address, int size) {
    return isOrdered() && followsAtOnce(address, size);
  }

  @SuppressWarnings("ReferenceEquality") // engines are compared by identity
  private boolean followsAtOnce(long address, int size) {
    return unsettled == 0 || far.engine(address, size) == writing;
  }

  private void written(boolean ok) {
    unsettled--;
    if (unsettled == 0 && !waiting.isEmpty()) {
      goOn();
    }
  }

  /** Carries out what waits, as far as its order lets it. */
  private void goOn() {
    while (!waiting.isEmpty() && !atomicRuns) {
      Waiting turn = waiting.element();
      if (turn.kind != Kind.READ && !followsAtOnce(turn.address, turn.size)) {
        return;
      }
      waiting.remove();
      carryOut(turn);
      spare.push(turn);
    }
  }

  private void carryOut(Waiting turn) {
    Completion completion = turn.completion;
    turn.completion = null;
    switch (turn.kind) {
      case READ -> {
        if (readNow(turn.address, turn.target, turn.size, require(completion))) {
          require(completion).completed(true);
        }
      }
      case WRITE -> {
        if (writeNow(turn.bytes.address(), turn.address, turn.size, false, completion)
            && completion != null) {
          completion.completed(true);
        }
      }
      case ENTRY -> writeEntryNow(turn.bytes.address(), turn.address);
      case ATOMIC -> {
        turn.completion = completion;
        DmaEngine engine = far.engine(turn.address, turn.size);
        if (engine != null) {
          atomicNow(engine, turn);
        } else if (near.atomic(
            turn.address, turn.size, turn.target, require(turn.atomic), require(completion))) {
          require(completion).completed(true);
        }
      }
    }
  }

  private Waiting queue(Kind kind, long address, int size) {
    Waiting turn = spare.isEmpty() ? new Waiting() : spare.pop();
    waiting.add(turn);
    turn.kind = kind;
    turn.address = address;
    turn.size = size;
    turn.completion = null;
    return turn;
  }

  private static <T> T require(@Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("a transfer without what belongs to it");
    }
    return value;
  }

  @Override
  public boolean delay(long nanos, Completion completion) {
    return near.delay(nanos, completion);
  }

  @Override
  public void timer(long nanos, Completion completion) {
    near.timer(nanos, completion);
  }

  @Override
  public void onMmio(long page, MmioTarget target) {
    near.onMmio(page, target);
  }

  @Override
  public void offMmio(long page) {
    near.offMmio(page);
  }

  @Override
  public long now() {
    return near.now();
  }

  /**
   * The memory of a fabric that only DMA engines reach, and whose turn it is to change a cell
   * there: an engine reads and writes, so one atomic at a time keeps devices from losing each
   * other's.
   */
  static final class FarMemory {
    private final List<DmaEngine> engines = new ArrayList<>();
    private final Queue<Runnable> atomics = new ArrayDeque<>();
    private boolean atomicRuns;

    void add(DmaEngine engine) {
      engines.add(engine);
    }

    void remove(DmaEngine engine) {
      engines.remove(engine);
    }

    boolean isEmpty() {
      return engines.isEmpty();
    }

    /** Returns the engine that reaches these bytes; null when none does. */
    @Nullable DmaEngine engine(long address, long bytes) {
      for (int i = 0; i < engines.size(); i++) {
        if (engines.get(i).reaches(address, bytes)) {
          return engines.get(i);
        }
      }
      return null;
    }

    boolean isIdle() {
      for (int i = 0; i < engines.size(); i++) {
        if (!engines.get(i).isIdle()) {
          return false;
        }
      }
      return true;
    }

    /** Starts an atomic, now or when those before it have ended; it calls {@link #atomicEnded}. */
    void atomic(Runnable start) {
      if (atomicRuns) {
        atomics.add(start);
      } else {
        atomicRuns = true;
        start.run();
      }
    }

    void atomicEnded() {
      Runnable next = atomics.poll();
      if (next == null) {
        atomicRuns = false;
      } else {
        next.run();
      }
    }
  }
}
