package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Memory and scripted agents for tests of a fabric. */
final class World implements AutoCloseable {
  static final Locus GPU = Locus.gpu(0, 0);
  static final Locus CPU = Locus.cpu(0);
  static final Locus NIC = Locus.nic(0, 0);
  static final long FOREVER = 1_000_000_000L;

  final Fabric fabric;

  World(Fabric fabric) {
    this.fabric = fabric;
  }

  Allocation allocate(MemoryKind kind, long bytes) {
    Locus locus =
        switch (kind) {
          case DEVICE, MANAGED, SCRATCH, MULTICAST -> GPU;
          case HOST -> CPU;
          case NIC, UAR -> NIC;
        };
    return fabric.memory().allocate(kind, locus, bytes, kind.word() + " memory of a test");
  }

  Script thread(Locus locus) {
    Script script = new Script();
    script.port = fabric.attachThread(locus, script);
    return script;
  }

  @Override
  public void close() {
    fabric.close();
  }

  /** Runs one script to its end; returns when that was. */
  long nanos(Script script) {
    long[] at = new long[1];
    script.then(p -> at[0] = p.now());
    assertThat(fabric.run(script.ended(), FOREVER)).isEqualTo(RunOutcome.DONE);
    return at[0];
  }

  /** A thread that makes its accesses one after another, and repeats one that parked. */
  static final class Script implements Agent {
    /** One access; true when the thread goes on to the next one, false to do it again. */
    @FunctionalInterface
    interface Act {
      boolean on(ThreadPort port);
    }

    private final List<Act> acts = new ArrayList<>();
    private int next;
    private @Nullable ThreadPort port;

    void attach(ThreadPort to) {
      port = to;
    }

    ThreadPort port() {
      ThreadPort known = port;
      if (known == null) {
        throw new IllegalStateException("not attached");
      }
      return known;
    }

    Script then(java.util.function.Consumer<ThreadPort> act) {
      acts.add(
          on -> {
            act.accept(on);
            return true;
          });
      return this;
    }

    /** Polls until {@code found} holds of the loaded value. */
    Script poll(java.util.function.ToLongFunction<ThreadPort> load, long wanted) {
      acts.add(
          new Act() {
            private boolean failed;

            @Override
            public boolean on(ThreadPort p) {
              if (failed) {
                p.pollFailed(Long.MAX_VALUE);
                failed = p.parked;
                return false;
              }
              long value = load.applyAsLong(p);
              if (p.parked) {
                return true;
              }
              failed = value != wanted;
              return !failed;
            }
          });
      return this;
    }

    BooleanSupplier ended() {
      return () -> next == acts.size();
    }

    @Override
    public int step(int budget) {
      int done = 0;
      while (next < acts.size() && done < budget) {
        boolean on = acts.get(next).on(port());
        if (port().parked) {
          return done;
        }
        if (on) {
          next++;
        }
        done++;
      }
      return done;
    }

    @Override
    public String where() {
      return "act " + next;
    }
  }
}
