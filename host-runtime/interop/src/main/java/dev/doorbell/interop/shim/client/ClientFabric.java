package dev.doorbell.interop.shim.client;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.Scheduler;
import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.gpu.SharedGpus;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A fabric of HCAs whose payload lies in client processes. It has no GPU threads, and virtual time
 * or an adversary only as the fabric of a {@link SharedWorld}. All calls come from one thread.
 */
public final class ClientFabric extends Fabric {
  /** Address space for doorbell pages and on-chip memory; takes memory as it is touched. */
  private static final long RESERVED = 4L << 30;

  /** A packet, its answer and that to the answer take three. */
  private static final int TURNS_BEFORE_TIMERS = 8;

  /** Bit that marks an address of a GPU's memory; the rest is an address of {@link SharedGpus}. */
  static final long GPU = 1L << 62;

  /** Bit that marks an address of no memory: reads give zeros, writes have no effect. */
  public static final long NOTHING = Long.MIN_VALUE;

  private final AddressSpace memory;
  private final @Nullable SharedWorld world;
  private final List<Agent> devices = new ArrayList<>();
  private final Map<Long, MmioTarget> registers = new HashMap<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private long nextTimer;

  /** Turns since a timer is due. */
  private int dueTurns;

  /** A port by which time is told in the world; null without one. */
  private @Nullable DevicePort clock;

  private @Nullable ClientProcess[] processes = new ClientProcess[16];
  private final @Nullable SharedGpus gpus;
  private final MemorySegment word = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);

  /**
   * @param gpus whose memory devices reach; closed with the fabric; null for none
   */
  public ClientFabric(@Nullable SharedGpus gpus) {
    this(gpus, null);
  }

  /**
   * @param gpus whose memory devices reach; closed with the fabric; null for none
   * @param world in whose window devices work, which others close; null for none
   */
  public ClientFabric(@Nullable SharedGpus gpus, @Nullable SharedWorld world) {
    this.gpus = gpus;
    this.world = world;
    this.memory = world == null ? AddressSpace.reserve(RESERVED) : world.window().space();
  }

  /** The world in whose window devices work, or null. */
  public @Nullable ServedWorld world() {
    return world == null ? null : world.of();
  }

  private record Timer(long at, long order, Completion completion) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      int byTime = Long.compare(at - other.at, 0);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  /** A free slot for a process; 0 stands for this one. */
  public int freeSlot() {
    for (int slot = 1; slot < processes.length; slot++) {
      if (processes[slot] == null) {
        return slot;
      }
    }
    int length = processes.length;
    processes = Arrays.copyOf(processes, 2 * length);
    return length;
  }

  public void attach(ClientProcess process) {
    processes[process.slot()] = process;
    process.attached(gpus);
  }

  public void detach(ClientProcess process) {
    processes[process.slot()] = null;
  }

  @Nullable ClientProcess process(int slot) {
    return slot < processes.length ? processes[slot] : null;
  }

  /** Those whose memory devices reach, or null. */
  @Nullable SharedGpus gpus() {
    return gpus;
  }

  static boolean isOnGpu(long address) {
    return (address & GPU) != 0;
  }

  /** Returns the address of {@link SharedGpus} in an address with {@link #GPU}. */
  static long onGpu(long address) {
    return address & ~GPU;
  }

  /**
   * Reads 4 bytes of a doorbell record in shared pages or on a GPU, with acquire semantics.
   *
   * @throws AccessFault when the GPU's memory is gone
   */
  public int loadWord(long address) {
    if (!isOnGpu(address)) {
      return RawMemory.getIntAcquire(address);
    }
    if (gpus == null || !gpus.read(onGpu(address), word.address(), Integer.BYTES)) {
      throw gone("read", address, Integer.BYTES);
    }
    return RawMemory.getInt(word.address());
  }

  AccessFault gone(String what, long address, int bytes) {
    return new AccessFault(
        "DMA " + what,
        onGpu(address),
        bytes,
        gpus == null ? "no GPU is served" : String.valueOf(gpus.failure()));
  }

  /**
   * Steps every HCA, and fires timers that are due once the HCAs have nothing to do or had {@value
   * #TURNS_BEFORE_TIMERS} turns: an answer that was under way while this thread had no core is not
   * late.
   *
   * @return the amount of work done
   */
  public int step() {
    int work = 0;
    for (int i = 0; i < devices.size(); i++) {
      work += devices.get(i).step(Scheduler.BUDGET);
    }
    dueTurns = untilTimer(1) > 0 ? 0 : dueTurns + 1;
    if (dueTurns > 0 && (work == 0 || dueTurns > TURNS_BEFORE_TIMERS)) {
      while (untilTimer(1) == 0) {
        timers.remove().completion.completed(true);
        work++;
      }
    }
    return world == null ? work : work + world.fabric().sweep();
  }

  /** Nanoseconds until a timer is due, at most {@code most}. */
  public long untilTimer(long most) {
    Timer next = timers.peek();
    return next == null ? most : Math.clamp(next.at - System.nanoTime(), 0, most);
  }

  void timer(long nanos, Completion completion) {
    timers.add(new Timer(System.nanoTime() + nanos, nextTimer++, completion));
  }

  void addRegisters(long page, MmioTarget target) {
    registers.put(page, target);
  }

  void removeRegisters(long page) {
    registers.remove(page);
  }

  /** A program stores the 8 bytes at {@code source} to a doorbell register. */
  public void store(long register, long source) {
    hostActs();
    DevicePort timed = clock;
    long nanos = world == null ? 0 : world.of().postNanos();
    if (timed == null || nanos == 0) {
      pass(register, source);
      return;
    }
    long value = RawMemory.getLong(source);
    timed.timer(
        nanos,
        _ -> {
          RawMemory.putLong(word.address(), value);
          pass(register, word.address());
        });
  }

  /** Passes on what has been stored to a doorbell register. */
  public void pass(long register, long source) {
    MmioTarget target = registers.get(register & -AddressSpace.PAGE);
    if (target != null) {
      target.mmioWrite(register, source, Long.BYTES);
    }
  }

  @Override
  public AddressSpace memory() {
    return memory;
  }

  @Override
  public ThreadPort attachThread(Locus locus, Agent agent) {
    throw new UnsupportedOperationException("no threads of a GPU run beside served HCAs");
  }

  @Override
  public DevicePort attachDevice(Locus locus, Agent agent) {
    ClientPort port = new ClientPort(this);
    if (world != null) {
      DevicePort inner = world.fabric().attachDevice(locus, agent);
      clock = inner;
      return new WorldPort(inner, port, world.window());
    }
    devices.add(agent);
    return port;
  }

  @Override
  public void detach(Agent agent) {
    devices.remove(agent);
    if (world != null) {
      world.fabric().detach(agent);
    }
  }

  /** Without a world every HCA is stepped in every turn. */
  @Override
  public void wake(Agent agent) {
    if (world != null) {
      world.fabric().wake(agent);
    }
  }

  @Override
  public void hostActs() {
    if (world != null) {
      world.fabric().hostActs();
    }
  }

  @Override
  public void visit(Agent agent, Runnable task) {
    if (world != null) {
      world.fabric().visit(agent, task);
    } else {
      task.run();
    }
  }

  @Override
  public RunOutcome run(BooleanSupplier done, long nanos) {
    long deadline = System.nanoTime() + nanos;
    while (!done.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        return RunOutcome.DEADLINE;
      }
      step();
    }
    return RunOutcome.DONE;
  }

  @Override
  public long now() {
    return world == null ? System.nanoTime() : world.fabric().now();
  }

  @Override
  public Basis basis() {
    return world == null ? Basis.EMULATED : world.fabric().basis();
  }

  @Override
  public void close() {
    if (world == null) {
      memory.close();
    }
    if (gpus != null) {
      gpus.close();
    }
  }
}
