package dev.doorbell.core.fabric.timed.thread;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.timed.interconnect.Interconnect;
import dev.doorbell.core.fabric.timed.processor.Processor;
import dev.doorbell.core.memory.Locus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The threads of a node, the processors they run on, and what they have in common. */
public final class ThreadScheduler {
  private final Interconnect interconnect;
  private final Map<Locus, Processor> processors = new HashMap<>();
  private final IdentityHashMap<Agent, List<TimedThreadPort>> threads = new IdentityHashMap<>();
  private int ofCpus;
  private int attached;
  private long drained;
  private long fences;
  private long fenceTime;
  private @Nullable ScheduledThread running;

  public ThreadScheduler(Interconnect interconnect) {
    this.interconnect = interconnect;
  }

  Interconnect interconnect() {
    return interconnect;
  }

  /**
   * Adds a thread, whose first turn is now.
   *
   * @param block the number of the thread's block, or {@link Processor#NO_BLOCK}
   * @param number of the port, in the order of attachment
   */
  public TimedThreadPort attach(Locus locus, long block, Agent agent, long number) {
    Processor processor = processors.get(locus);
    if (processor == null) {
      processor = new Processor(interconnect, interconnect.component(locus));
      processors.put(locus, processor);
    }
    TimedThreadPort port = new TimedThreadPort(this, processor, agent, number, block);
    threads.computeIfAbsent(agent, key -> new ArrayList<>(1)).add(port);
    attached++;
    if (!processor.component.isGpu()) {
      ofCpus++;
    }
    return port;
  }

  public void detach(Agent agent) {
    List<TimedThreadPort> gone = threads.remove(agent);
    if (gone != null) {
      for (TimedThreadPort port : gone) {
        drained = Math.max(drained, port.detach());
        attached--;
        if (!port.processor.component.isGpu()) {
          ofCpus--;
        }
      }
    }
  }

  public boolean hasThreads() {
    return attached > 0;
  }

  /** Returns true if there are threads of CPUs: what they do is not bound to their rank. */
  public boolean hasThreadsOfCpus() {
    return ofCpus > 0;
  }

  /** Picoseconds at which the stores of all threads that have ended are where they belong. */
  public long drained() {
    return drained;
  }

  /** Wakes the threads of {@code agent}, at the time of the thread that is running if one is. */
  public void wake(Agent agent) {
    List<TimedThreadPort> ports = threads.get(agent);
    if (ports != null) {
      long when = now();
      for (TimedThreadPort port : ports) {
        port.wake(when);
      }
    }
  }

  /** The time of the thread that is running if one is, else the clock. */
  long now() {
    ScheduledThread waker = running;
    return waker == null ? interconnect.queue().clock() : waker.time;
  }

  public Stream<TimedThreadPort> ports() {
    return threads.values().stream().flatMap(List::stream);
  }

  /** True when all its threads wait for what, as far as can be seen, will not happen. */
  public boolean isDeadlocked() {
    for (List<TimedThreadPort> ports : threads.values()) {
      for (TimedThreadPort port : ports) {
        if (!port.isDeadlocked()) {
          return false;
        }
      }
    }
    return true;
  }

  public long fences() {
    return fences;
  }

  /** Picoseconds that threads waited in fences. */
  public long fenceTime() {
    return fenceTime;
  }

  void fenced(long picos) {
    fences++;
    fenceTime += picos;
  }

  /** The thread that is being stepped, whose clock is ahead of the queue's; or null. */
  void running(@Nullable ScheduledThread thread) {
    running = thread;
  }
}
