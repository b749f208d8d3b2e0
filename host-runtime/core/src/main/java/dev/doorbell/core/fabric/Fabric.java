package dev.doorbell.core.fabric;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.trace.Trace;
import java.util.Collection;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Policy of a world: the way and the time in which agents reach memory and each other.
 *
 * <p>{@link DirectFabric} touches native memory at once; a timed fabric delivers by virtual time
 * over PCIe paths; an exploring fabric delivers in any order that the memory models allow. Agents
 * are the same under all of them.
 */
public abstract class Fabric implements AutoCloseable {
  private Trace trace = Trace.NONE;

  public abstract AddressSpace memory();

  /** True when devices reach all of these bytes. */
  public boolean reaches(long address, long bytes) {
    return memory().accessibleRange(address, bytes);
  }

  /**
   * Adds a thread at {@code locus}; it is stepped from the next turn on.
   *
   * @return its port
   */
  public abstract ThreadPort attachThread(Locus locus, Agent agent);

  /**
   * Adds a thread of a block. They come in the order of their indices: 32 after one another are a
   * warp.
   *
   * @param block the block's number, different from that of any other block of the world
   */
  public ThreadPort attachThread(Locus locus, long block, Agent agent) {
    return attachThread(locus, agent);
  }

  /**
   * Returns true if threads may have several loads under way, for as far as their ports say ({@link
   * ThreadPort#loadsAhead}).
   */
  public boolean hasLoadsAhead() {
    return false;
  }

  /** Returns how instructions of a thread at {@code locus} follow each other. */
  public Pipeline pipeline(Locus locus) {
    return Pipeline.NONE;
  }

  /**
   * Adds a device at {@code locus}.
   *
   * @return its port
   */
  public abstract DevicePort attachDevice(Locus locus, Agent agent);

  /** Removes an agent: a thread that ended, a device that was closed. */
  public abstract void detach(Agent agent);

  /** Detaches many agents; a fabric that would search for each of them takes one pass. */
  public void detachAll(Collection<? extends Agent> agents) {
    agents.forEach(this::detach);
  }

  /** The agent has work though nothing arrived at its port: the host changed its state. */
  public abstract void wake(Agent agent);

  /**
   * Carries out, for {@code agent}, what another rank has found out: at once, or when no host
   * thread steps that agent. Tasks of one agent come in any order.
   */
  public void visit(Agent agent, Runnable task) {
    task.run();
  }

  /**
   * Carries out what allocates memory, or begins or ends agents, for the component at {@code
   * locus}, whose agents are stepped on this thread: at once, or behind this step and before the
   * component's next one.
   */
  public void exclusively(Locus locus, Runnable task) {
    task.run();
  }

  /** Does the same as {@link #now}, for agents at {@code locus} while they are stepped. */
  public LongSupplier clock(Locus locus) {
    return this::now;
  }

  /**
   * Steps the agents until {@code done} or for {@code nanos} of the fabric's clock.
   *
   * @throws RuntimeException what an agent throws; the world is still consistent then
   */
  public abstract RunOutcome run(BooleanSupplier done, long nanos);

  /**
   * Goes on for a while, for a host that acts between two calls: as long as no agent but the host
   * has anything to do, a clock of the fabric's own stands still.
   *
   * @return the work done; 0 when all wait for the host, or for time to pass
   */
  public int sweep() {
    throw new UnsupportedOperationException("a fabric for whole runs");
  }

  /**
   * The host acts: it knows what agents have released to the whole system, and what devices have
   * written. What begins from now on knows it, too.
   */
  public void hostActs() {}

  /**
   * A host lets a kernel begin, whose threads are attached next.
   *
   * @param after kernels that it comes after, beside those whose ends the host has seen
   * @return what stands for the kernel
   */
  public Object launching(Collection<Object> after) {
    return this;
  }

  /**
   * A host sees the ends of kernels.
   *
   * @param kernels what {@link #launching} returned for them; null for all that have ended
   */
  public void hostSees(@Nullable Collection<Object> kernels) {}

  /**
   * Lets every write that is under way arrive, while agents go on. A completion says that the
   * peer's HCA has the bytes, not that its memory has them: call this before looking there.
   */
  public void quiesce() {}

  /**
   * Notifies {@code listener} of whatever arrives in the allocation at {@code address} from another
   * component, from now on.
   *
   * @return false where the fabric cannot tell
   */
  public boolean watch(long address, ArrivalListener listener) {
    return false;
  }

  /** Nanoseconds on the fabric's clock: virtual, or {@link System#nanoTime}. */
  public abstract long now();

  /** Says what a time taken from {@link #now} may be called. */
  public abstract Basis basis();

  /** Target of events; {@link Trace#NONE} unless set. */
  public final Trace trace() {
    return trace;
  }

  /** Sends events to {@code trace}. Set it before agents are attached. */
  public final void trace(Trace trace) {
    this.trace = trace;
  }

  /** Frees the memory of this world. */
  @Override
  public abstract void close();

  /**
   * Timing of one thread's instructions where they do not wait for memory, in picoseconds: an
   * instruction is issued when the one before it has been and its operands are there.
   *
   * @param issue from one instruction to the next that does not wait for it
   * @param result from the issue of an instruction that computes until its result can be an operand
   * @param decision from the issue of a comparison until a branch or a guard can use its predicate
   * @param jump from the issue of a conditional branch to the next instruction
   * @param call what a call and its return take, together
   */
  public record Pipeline(long issue, long result, long decision, long jump, long call) {
    /** Nothing waits: every instruction takes its turn and no more. */
    public static final Pipeline NONE = new Pipeline(0, 0, 0, 0, 0);

    public Pipeline {
      if (Math.min(Math.min(issue, result), Math.min(Math.min(decision, jump), call)) < 0) {
        throw new IllegalArgumentException("times below 0");
      }
    }

    /** Returns true if anything is known: if not, every instruction has the same price. */
    public boolean known() {
      return !equals(NONE);
    }
  }

  /**
   * A condition for {@link Fabric#run} that becomes true only when an agent is detached: a fabric
   * need not ask again while all agents are still there. The fabric asks at the beginning of each
   * run all the same, so that a condition may use that to stop agents whose time is over.
   */
  @FunctionalInterface
  public interface AgentsEnded extends BooleanSupplier {}
}
