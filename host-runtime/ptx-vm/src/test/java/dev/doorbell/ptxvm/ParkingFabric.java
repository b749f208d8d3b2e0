package dev.doorbell.ptxvm;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.Fabric.Pipeline;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A fabric whose accesses park at random, as under virtual time, and that insists on the protocol:
 * the same access again, with the same arguments, and nothing before it. Loads may go ahead: their
 * values come when they are taken, and not before.
 */
final class ParkingFabric extends Fabric {
  private final DirectFabric direct;
  private final SplittableRandom random;
  int parks;
  int failedPolls;
  long executed;

  /** Time that instructions took beyond their turns, in picoseconds. */
  long stalled;

  /** History of all accesses, with how many instructions their threads had executed before each. */
  long history;

  int mostAhead;
  private final int tickets;
  private final Pipeline pipeline;

  ParkingFabric(long seed) {
    this(seed, 0);
  }

  /**
   * @param tickets loads of a thread that may be under way
   */
  ParkingFabric(long seed, int tickets) {
    this(seed, tickets, tickets == 0 ? Pipeline.NONE : new Pipeline(2, 9, 28, 15, 210));
  }

  /**
   * @param pipeline how instructions of a thread follow each other
   */
  ParkingFabric(long seed, int tickets, Pipeline pipeline) {
    this.tickets = tickets;
    this.pipeline = pipeline;
    direct = new DirectFabric(AddressSpace.reserve(), seed);
    random = new SplittableRandom(seed);
  }

  @Override
  public AddressSpace memory() {
    return direct.memory();
  }

  @Override
  public boolean hasLoadsAhead() {
    return tickets > 0;
  }

  @Override
  public Pipeline pipeline(Locus locus) {
    return pipeline;
  }

  @Override
  public ThreadPort attachThread(Locus locus, Agent agent) {
    return new Port(direct.attachThread(locus, agent));
  }

  @Override
  public DevicePort attachDevice(Locus locus, Agent agent) {
    return direct.attachDevice(locus, agent);
  }

  @Override
  public void detach(Agent agent) {
    direct.detach(agent);
  }

  @Override
  public void wake(Agent agent) {
    direct.wake(agent);
  }

  @Override
  public RunOutcome run(BooleanSupplier done, long nanos) {
    return direct.run(done, nanos);
  }

  @Override
  public long now() {
    return direct.now();
  }

  @Override
  public Basis basis() {
    return Basis.MODELLED;
  }

  @Override
  public void close() {
    direct.close();
  }

  private final class Port extends ThreadPort {
    private final ThreadPort inner;
    private long @Nullable [] pending;

    /** Values by ticket, both halves; null where nothing is under way. */
    private final long @Nullable [][] ahead = new long[tickets][];

    private int underWay;

    Port(ThreadPort inner) {
      this.inner = inner;
    }

    /** True when the access may happen now. */
    private boolean ready(long... arguments) {
      for (long argument : arguments) {
        // Upper bits of addresses differ from one address space to the next.
        history = history * 31 + (argument & (AddressSpace.ALIGNMENT - 1));
      }
      history = history * 31 + executed;
      history = history * 31 + stalled;
      if (pending != null) {
        if (!Arrays.equals(pending, arguments)) {
          throw new AssertionError(
              "parked " + Arrays.toString(pending) + ", then came " + Arrays.toString(arguments));
        }
        parked = random.nextInt(3) == 0;
      } else {
        parked = random.nextBoolean();
      }
      pending = parked ? arguments : null;
      parks += parked ? 1 : 0;
      return !parked;
    }

    private void nothingPending(String what) {
      if (pending != null) {
        throw new AssertionError(what + " while an access is parked");
      }
    }

    @Override
    public long load8(long address, int access) {
      return ready(1, address, access) ? inner.load8(address, access) : 0xdead;
    }

    @Override
    public long load16(long address, int access) {
      return ready(2, address, access) ? inner.load16(address, access) : 0xdead;
    }

    @Override
    public long load32(long address, int access) {
      return ready(4, address, access) ? inner.load32(address, access) : 0xdead;
    }

    @Override
    public long load64(long address, int access) {
      return ready(8, address, access) ? inner.load64(address, access) : 0xdead;
    }

    @Override
    public long load128(long address, int access) {
      high = 0xdead;
      if (!ready(16, address, access)) {
        return 0xdead;
      }
      long low = inner.load128(address, access);
      high = inner.high;
      return low;
    }

    @Override
    public int loadsAhead() {
      return tickets;
    }

    @Override
    public void issue(int ticket, long address, int bytes, int access) {
      if (ahead[ticket] != null) {
        throw new AssertionError("ticket " + ticket + " is in use");
      }
      if (!ready(-100, ticket, address, bytes, access)) {
        return;
      }
      long low =
          switch (bytes) {
            case 1 -> inner.load8(address, access);
            case 2 -> inner.load16(address, access);
            case 4 -> inner.load32(address, access);
            case 8 -> inner.load64(address, access);
            default -> inner.load128(address, access);
          };
      ahead[ticket] = new long[] {low, inner.high};
      mostAhead = Math.max(mostAhead, ++underWay);
    }

    @Override
    public long take(int ticket) {
      long[] value = ahead[ticket];
      if (value == null) {
        throw new AssertionError("nothing is under way with ticket " + ticket);
      }
      high = 0xdead;
      if (!ready(-101, ticket)) {
        return 0xdead;
      }
      ahead[ticket] = null;
      underWay--;
      high = value[1];
      return value[0];
    }

    @Override
    public void store8(long address, long value, int access) {
      if (ready(-1, address, value, access)) {
        inner.store8(address, value, access);
      }
    }

    @Override
    public void store16(long address, long value, int access) {
      if (ready(-2, address, value, access)) {
        inner.store16(address, value, access);
      }
    }

    @Override
    public void store32(long address, long value, int access) {
      if (ready(-4, address, value, access)) {
        inner.store32(address, value, access);
      }
    }

    @Override
    public void store64(long address, long value, int access) {
      if (ready(-8, address, value, access)) {
        inner.store64(address, value, access);
      }
    }

    @Override
    public void store128(long address, long low, long high, int access) {
      if (ready(-16, address, low, high, access)) {
        inner.store128(address, low, high, access);
      }
    }

    @Override
    public long atomic(Rmw rmw, long address, int bytes, long operand, long compare, int access) {
      return ready(100 + rmw.name().hashCode(), address, bytes, operand, compare, access)
          ? inner.atomic(rmw, address, bytes, operand, compare, access)
          : 0xdead;
    }

    @Override
    public void fence(int access) {
      if (ready(99, access)) {
        inner.fence(access);
      }
    }

    @Override
    public void executed(int instructions) {
      nothingPending("executed()");
      executed += instructions;
    }

    @Override
    public void stalled(long picos) {
      nothingPending("stalled()");
      stalled += picos;
      if (executed * pipeline.issue() + stalled < 0) {
        throw new AssertionError("the clock ran backwards");
      }
    }

    @Override
    public void spend(long nanos) {
      nothingPending("spend()");
    }

    @Override
    public void pollFailed(long atMostNanos) {
      nothingPending("pollFailed()");
      failedPolls++;
      if (atMostNanos <= 0) {
        throw new AssertionError("atMostNanos=" + atMostNanos);
      }
    }

    @Override
    public long now() {
      return inner.now();
    }
  }
}
