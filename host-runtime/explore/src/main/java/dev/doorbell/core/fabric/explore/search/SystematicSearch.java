package dev.doorbell.core.fabric.explore.search;

import dev.doorbell.core.fabric.explore.model.AccessLog;
import dev.doorbell.core.fabric.explore.model.Chooser;
import dev.doorbell.core.memory.AddressSpace;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Goes through the executions of a world, each once up to the order of steps that commute:
 * stateless model checking with source sets and sleep sets (Abdulla, Aronis, Jonsson, Sagonas, POPL
 * 2014).
 *
 * <p>A step of an agent ends with its first access that others may notice. Two steps depend on each
 * other when both touch a word or a queue that one of them writes. A load is offered all values
 * that the memory model allows, so that a store and a load behind it need no second order: the
 * older value stands for it. A load that a waiting loop repeats was in vain, and no order is sought
 * for it; a run in which such a load saw an older value is another one over again, and ends.
 *
 * <p>Each run is one walk from the beginning: {@link #begin}, then {@link #next} and {@link
 * #choose} until the world has ended, then {@link #end}.
 */
public final class SystematicSearch implements Chooser, AccessLog {
  /** The most agents: they are bits of a word. */
  public static final int AGENTS = Long.SIZE;

  /** The answer of {@link #next} where this run shows nothing that no other shows. */
  public static final int STOP = -1;

  private final boolean awaits;
  private final boolean weak;

  private final List<Choice> path = new ArrayList<>();
  private int position;

  // The run.
  private final List<Event> events = new ArrayList<>();
  private final Map<Integer, Event> wakers = new HashMap<>();
  private final Map<Integer, IdentityHashMap<Object, Look>> looks = new HashMap<>();
  private @Nullable Event current;
  private boolean redundant;
  private boolean slept;
  private @Nullable Deque<TraceStep> script;
  private @Nullable TraceStep scripted;
  private int scriptedAnswers;

  private long executions;
  private long cut;
  private boolean complete;

  /** A node of the tree of runs. */
  private sealed interface Choice {}

  /** The agent that goes next. */
  private static final class AgentChoice implements Choice {
    final long enabled;
    final long sleep;
    final Map<Integer, Footprint> seen = new HashMap<>();
    long backtrack;
    long done;
    int chosen;

    AgentChoice(long enabled, long sleep) {
      this.enabled = enabled;
      this.sleep = sleep;
    }
  }

  /** The value of a load, or another choice within a step. */
  private static final class DataChoice implements Choice {
    final int alternatives;
    int chosen;

    DataChoice(int alternatives) {
      this.alternatives = alternatives;
    }
  }

  private static final class Event {
    final int agent;
    final int node;
    final Footprint footprint = new Footprint();
    final List<Integer> answers = new ArrayList<>(0);
    final @Nullable Event waker;
    int[] clock = new int[0];
    int own;
    @Nullable Object place;

    Event(int agent, int node, @Nullable Event waker) {
      this.agent = agent;
      this.node = node;
      this.waker = waker;
    }

    boolean knows(Event other) {
      return other.agent < clock.length && clock[other.agent] >= other.own;
    }

    void join(Event other) {
      if (clock.length < other.clock.length) {
        clock = Arrays.copyOf(clock, other.clock.length);
      }
      for (int i = 0; i < other.clock.length; i++) {
        clock[i] = Math.max(clock[i], other.clock[i]);
      }
    }
  }

  /** A load of a thread since when it has done nothing that others notice. */
  private record Look(long key, boolean old, boolean repeated, Event event, int index) {}

  /**
   * A step of a trace.
   *
   * @param agent that goes
   * @param answers of the step's other choices
   * @param place of its last access that others may notice, as its agent has it
   */
  public record TraceStep(int agent, List<Integer> answers, @Nullable Object place) {
    public TraceStep {
      answers = List.copyOf(answers);
    }
  }

  /**
   * Creates a search.
   *
   * @param awaits loops that repeat a load wait for a value; else each round is one of its own
   * @param weak weak accesses count as others do; else they need no order, since a pair of them
   *     that nothing orders is reported in whichever run both are executed
   */
  public SystematicSearch(boolean awaits, boolean weak) {
    this.awaits = awaits;
    this.weak = weak;
  }

  public void begin() {
    position = 0;
    events.clear();
    wakers.clear();
    looks.clear();
    current = null;
    redundant = false;
    slept = false;
    scripted = null;
  }

  /** A word's key in all runs, whose memory may lie elsewhere: what collides counts as one. */
  private static long relative(long key) {
    return key < 0 ? key : key & (AddressSpace.ALIGNMENT - 1);
  }

  /** Begins a run of {@code steps}, of which those that cannot be taken are left out. */
  public void beginScripted(List<TraceStep> steps) {
    begin();
    script = new ArrayDeque<>(steps);
  }

  /**
   * Says which agent goes next.
   *
   * @param enabled a bit for each agent that can go; not 0
   * @return its number, or {@link #STOP}
   */
  public int next(long enabled) {
    if (redundant) {
      return STOP;
    }
    int agent = script == null ? choose(enabled) : follow(enabled, script);
    if (agent != STOP) {
      Event event = new Event(agent, position - 1, wakers.remove(agent));
      current = event;
      events.add(event);
    }
    return agent;
  }

  private int follow(long enabled, Deque<TraceStep> steps) {
    for (TraceStep step = steps.poll(); step != null; step = steps.poll()) {
      if ((enabled >>> step.agent & 1) != 0) {
        scripted = step;
        scriptedAnswers = 0;
        return step.agent;
      }
    }
    return STOP;
  }

  private int choose(long enabled) {
    if (position == path.size()) {
      AgentChoice node = new AgentChoice(enabled, sleeping());
      carryOver(node);
      long free = enabled & ~node.sleep;
      if (free == 0) {
        slept = true;
        return STOP;
      }
      int last = current == null ? STOP : current.agent;
      node.chosen =
          last != STOP && (free >>> last & 1) != 0 ? last : Long.numberOfTrailingZeros(free);
      node.backtrack = 1L << node.chosen;
      path.add(node);
    }
    if (!(path.get(position) instanceof AgentChoice node) || node.enabled != enabled) {
      throw new IllegalStateException("a run took another course than the one before");
    }
    position++;
    return node.chosen;
  }

  /** The agents whose next step commutes with all since another run took it. */
  private long sleeping() {
    Event last = current;
    if (last == null || !(path.get(last.node) instanceof AgentChoice before)) {
      return 0;
    }
    long sleep = 0;
    for (long rest = (before.sleep | before.done) & ~(1L << before.chosen);
        rest != 0;
        rest &= rest - 1) {
      int agent = Long.numberOfTrailingZeros(rest);
      Footprint seen = before.seen.get(agent);
      if (seen != null && seen.commutesWith(last.footprint)) {
        sleep |= 1L << agent;
      }
    }
    return sleep;
  }

  /** Keeps what is known of the steps of agents that sleep. */
  private void carryOver(AgentChoice node) {
    Event last = current;
    if (last != null && path.get(last.node) instanceof AgentChoice before) {
      before.seen.forEach(
          (agent, seen) -> {
            if ((node.sleep >>> agent & 1) != 0) {
              node.seen.put(agent, seen);
            }
          });
    }
  }

  @Override
  public int choose(int alternatives, Kind what) {
    int answer = alternatives == 1 ? 0 : answer(alternatives);
    if (current != null) {
      current.answers.add(answer);
    }
    return answer;
  }

  private int answer(int alternatives) {
    if (script != null) {
      TraceStep step = scripted;
      return step == null || scriptedAnswers >= step.answers.size()
          ? 0
          : Math.min(alternatives - 1, step.answers.get(scriptedAnswers++));
    }
    if (position == path.size()) {
      path.add(new DataChoice(alternatives));
    }
    if (!(path.get(position) instanceof DataChoice node) || node.alternatives != alternatives) {
      throw new IllegalStateException("a run took another course than the one before");
    }
    position++;
    return node.chosen;
  }

  /** True when the step under way has done something that others may notice. */
  public boolean hasActed() {
    return current != null && current.place != null;
  }

  /** Ends the run; true when there are others. */
  public boolean end() {
    if (script != null) {
      script = null;
      return true;
    }
    if (redundant || slept) {
      cut++;
    } else {
      executions++;
    }
    if (!redundant) {
      findOrders();
    }
    for (Event event : events) {
      if (path.get(event.node) instanceof AgentChoice node) {
        node.seen.computeIfAbsent(event.agent, agent -> new Footprint()).addAll(event.footprint);
      }
    }
    while (!path.isEmpty()) {
      switch (path.getLast()) {
        case DataChoice data -> {
          if (++data.chosen < data.alternatives) {
            return true;
          }
        }
        case AgentChoice node -> {
          node.done |= 1L << node.chosen;
          long left = node.backtrack & ~node.done & ~node.sleep;
          if (left != 0) {
            node.chosen = Long.numberOfTrailingZeros(left);
            return true;
          }
        }
      }
      path.removeLast();
    }
    complete = true;
    return false;
  }

  public List<TraceStep> trace() {
    return events.stream()
        .map(event -> new TraceStep(event.agent, event.answers, event.place))
        .toList();
  }

  /** Runs to their end, each another one. */
  public long executions() {
    return executions;
  }

  /** Runs that were left since another one shows the same. */
  public long cut() {
    return cut;
  }

  /** True when there is no other execution. */
  public boolean complete() {
    return complete;
  }

  // What the step under way does.

  @Override
  public boolean repeats(long key, @Nullable Object at) {
    IdentityHashMap<Object, Look> mine = current == null ? null : looks.get(current.agent);
    Look before = mine == null || at == null ? null : mine.get(at);
    return before != null && before.key == key && !before.old;
  }

  @Override
  public void read(long key, boolean strong, boolean old, @Nullable Object at) {
    Event event = current;
    if (event == null || !(strong || weak)) {
      return;
    }
    event.place = at == null ? this : at;
    int index = old ? -1 : event.footprint.add(relative(key), Footprint.READ);
    if (!awaits || at == null) {
      return;
    }
    IdentityHashMap<Object, Look> mine =
        looks.computeIfAbsent(event.agent, agent -> new IdentityHashMap<>());
    Look before = mine.get(at);
    boolean repeated = before != null && before.key == key;
    mine.put(at, new Look(key, old, repeated, event, index));
    if (before != null && repeated) {
      if (before.old) {
        redundant = true;
      } else {
        before.event.footprint.inVain(before.index);
      }
    }
  }

  @Override
  public void wrote(long key, boolean strong, @Nullable Object at) {
    Event event = current;
    if (event == null) {
      return;
    }
    looks.remove(event.agent);
    if (strong || weak) {
      event.place = at == null ? this : at;
      event.footprint.add(relative(key), Footprint.WRITE);
    }
  }

  /** The agent of the step under way waits in a loop: what that has read was in vain. */
  public void waits() {
    IdentityHashMap<Object, Look> mine = current == null ? null : looks.get(current.agent);
    if (mine != null) {
      for (Look look : mine.values()) {
        if (look.repeated && look.index >= 0) {
          look.event.footprint.inVain(look.index);
        }
      }
    }
  }

  /** {@code agent}, which could not go, can do so because of the step under way. */
  public void woke(int agent) {
    Event event = current;
    if (event != null && event.agent != agent) {
      wakers.put(agent, event);
    }
  }

  // Orders of dependent steps that are to be tried the other way round.

  private void findOrders() {
    Map<Long, Event> writes = new HashMap<>();
    Map<Long, List<Event>> reads = new HashMap<>();
    Map<Integer, Event> lasts = new HashMap<>();
    for (Event event : events) {
      Event before = lasts.put(event.agent, event);
      if (before != null) {
        event.join(before);
      }
      if (event.waker != null) {
        event.join(event.waker);
      }
      event.own = before == null ? 1 : before.own + 1;
      List<Event> conflicts = new ArrayList<>();
      List<Event> seen = new ArrayList<>();
      Footprint touched = event.footprint;
      for (int i = 0; i < touched.size(); i++) {
        Event write = writes.get(touched.key(i));
        if (write != null) {
          (touched.kind(i) == Footprint.WRITE ? conflicts : seen).add(write);
        }
        if (touched.kind(i) == Footprint.WRITE) {
          conflicts.addAll(reads.getOrDefault(touched.key(i), List.of()));
        }
      }
      seen.forEach(event::join);
      conflicts.sort((a, b) -> Integer.compare(b.node, a.node));
      for (Event other : conflicts) {
        if (other.agent != event.agent && !event.knows(other)) {
          reverse(other, event);
        }
        event.join(other);
      }
      if (event.clock.length <= event.agent) {
        event.clock = Arrays.copyOf(event.clock, event.agent + 1);
      }
      event.clock[event.agent] = event.own;
      for (int i = 0; i < touched.size(); i++) {
        if (touched.kind(i) == Footprint.WRITE) {
          writes.put(touched.key(i), event);
          reads.remove(touched.key(i));
        } else if (touched.kind(i) == Footprint.READ) {
          reads.computeIfAbsent(touched.key(i), key -> new ArrayList<>(2)).add(event);
        }
      }
    }
  }

  /** Sees to it that some run takes {@code later} and what it needs without {@code earlier}. */
  private void reverse(Event earlier, Event later) {
    if (!(path.get(earlier.node) instanceof AgentChoice node)) {
      return;
    }
    long initials = 0;
    List<Event> independent = new ArrayList<>();
    for (int i = events.indexOf(earlier) + 1; i < events.size(); i++) {
      Event event = events.get(i);
      if (event != later && event.knows(earlier)) {
        continue;
      }
      if (independent.stream().noneMatch(event::knows)) {
        initials |= 1L << event.agent;
      }
      if (event == later) {
        break;
      }
      independent.add(event);
    }
    if ((initials & (node.backtrack | node.done | node.sleep)) != 0) {
      return;
    }
    long able = initials & node.enabled;
    node.backtrack |= able == 0 ? node.enabled : Long.lowestOneBit(able);
  }
}
