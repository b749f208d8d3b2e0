package dev.doorbell.core.fabric.explore.litmus.axiom;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.explore.litmus.Instruction;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Address;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Arithmetic;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Barrier;
import dev.doorbell.core.fabric.explore.litmus.Instruction.BarrierKind;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Guard;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Operand;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.LitmusThread;
import dev.doorbell.core.fabric.explore.litmus.axiom.Event.BarrierUse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Every way through one thread's code, for loads that may return any value that is written.
 *
 * <p>A loop is followed a bounded number of times round; {@link #cut} says whether that left
 * anything out. Dependencies are syntactic, with the usual exceptions: {@code xor r, a, a}, {@code
 * sub r, a, a} and {@code and r, a, 0} depend on nothing.
 */
final class TraceEnumerator {
  /** Traces of one thread at most: a search of more would end for want of memory. */
  private static final int MOST = 500_000;

  private final LitmusTest test;
  private final int number;
  private final LitmusThread thread;
  private final List<SortedSet<Integer>> values;
  private final int rounds;
  private final Budget budget;
  private final List<ThreadTrace> traces = new ArrayList<>();
  private final Set<Written> written = new HashSet<>();
  private int mostWrites;
  private boolean cut;

  /** A value that the thread stores to a location in some trace, whether or not that ends. */
  record Written(int location, int value) {}

  /** A register's value and the loads (event indices as bits) that it depends on. */
  private record Value(int value, long dependencies) {}

  /** The beginning of a round of a loop: how many events there were, and the registers. */
  private record Round(int events, Map<String, Integer> registers) {}

  /** A thread in the middle of its code. */
  private static final class State {
    int pc;
    long control;
    final Map<String, Value> registers;
    final List<Event> events;
    final Map<Integer, Integer> backward;

    /** For each target of a backward branch, the state when it was taken last. */
    final Map<Integer, Round> rounds;

    State() {
      registers = new HashMap<>();
      events = new ArrayList<>();
      backward = new HashMap<>();
      rounds = new HashMap<>();
    }

    State(State other) {
      pc = other.pc;
      control = other.control;
      registers = new HashMap<>(other.registers);
      events = new ArrayList<>(other.events);
      backward = new HashMap<>(other.backward);
      rounds = new HashMap<>(other.rounds);
    }

    Value value(Operand operand) {
      return switch (operand) {
        case Operand.Constant constant -> new Value(constant.value(), 0);
        case Operand.Register register -> registers.getOrDefault(register.name(), new Value(0, 0));
      };
    }
  }

  /**
   * @param values what loads of each location may return
   * @param rounds how often each backward branch is taken in one trace
   */
  TraceEnumerator(
      LitmusTest test, int thread, List<SortedSet<Integer>> values, int rounds, Budget budget) {
    this.test = test;
    this.number = thread;
    this.thread = test.threads().get(thread);
    this.values = values;
    this.rounds = rounds;
    this.budget = budget;
  }

  List<ThreadTrace> enumerate() {
    State state = new State();
    thread.registers().forEach((name, value) -> state.registers.put(name, new Value(value, 0)));
    follow(state);
    return traces;
  }

  /**
   * Returns what is written in any trace. A trace that is left out because its loops go round too
   * often counts: what it writes before that, a shorter trace may read.
   */
  Set<Written> written() {
    return written;
  }

  /** Returns the largest number of writes in a trace, those that are left out among them. */
  int mostWrites() {
    return mostWrites;
  }

  /** Returns true if longer traces exist. */
  boolean cut() {
    return cut;
  }

  private void follow(State start) {
    State state = start;
    while (state.pc < thread.code().size()) {
      budget.step();
      Instruction instruction = thread.code().get(state.pc++);
      Guard guard = instruction.site().guard();
      long conditional = 0;
      if (guard != null) {
        Value predicate = state.value(new Operand.Register(guard.predicate()));
        conditional = predicate.dependencies;
        if ((predicate.value != 0) == guard.negated()) {
          skip(state, instruction, conditional);
          continue;
        }
      }
      switch (instruction) {
        case Instruction.Load load -> {
          load(state, load, conditional);
          return;
        }
        case Instruction.Atomic atomic -> {
          atomic(state, atomic, conditional);
          return;
        }
        case Barrier barrier -> {
          barrier(state, barrier, conditional);
          return;
        }
        case Instruction.Store store -> {
          Value value = state.value(store.value());
          long dependencies = value.dependencies | conditional | state.control;
          state.events.add(
              event(store.site(), store.address(), store.access())
                  .write(value.value)
                  .build(dependencies));
        }
        case Instruction.Fence fence ->
            state.events.add(event(fence.site(), null, fence.access()).build(0));
        case Instruction.ProxyFence fence ->
            state.events.add(event(fence.site(), null, Access.WEAK).proxyFence(fence).build(0));
        case Instruction.Compute compute -> compute(state, compute, conditional);
        case Instruction.Branch branch -> {
          state.control |= conditional;
          if (branch.target() < state.pc) {
            spin(state, branch.target());
            if (!again(state)) {
              cut = true;
              note(state.events);
              return;
            }
          }
          state.pc = branch.target();
        }
        case Instruction.Exit ignored -> {
          finish(state, false);
          return;
        }
      }
    }
    finish(state, false);
  }

  /** A guard that is false still decides: what a register keeps, or where control goes. */
  private static void skip(State state, Instruction instruction, long conditional) {
    String target =
        switch (instruction) {
          case Instruction.Load load -> load.target();
          case Instruction.Atomic atomic -> atomic.target();
          case Instruction.Compute compute -> compute.target();
          case Barrier barrier -> barrier.target();
          case Instruction.Branch ignored -> {
            state.control |= conditional;
            yield null;
          }
          case Instruction.Exit ignored -> {
            state.control |= conditional;
            yield null;
          }
          case Instruction.Store ignored -> null;
          case Instruction.Fence ignored -> null;
          case Instruction.ProxyFence ignored -> null;
        };
    if (target != null) {
      Value kept = state.value(new Operand.Register(target));
      state.registers.put(target, new Value(kept.value, kept.dependencies | conditional));
    }
  }

  /** Adds the trace that goes on like its last round, when that round has changed nothing. */
  private void spin(State state, int target) {
    Round now = new Round(state.events.size(), values(state));
    Round last = state.rounds.put(target, now);
    if (last != null
        && last.registers.equals(now.registers)
        && state.events.subList(last.events, now.events).stream()
            .allMatch(event -> !event.writes() && event.barrier() == null)) {
      traces.add(
          new ThreadTrace(List.copyOf(state.events), now.registers, false, true, last.events));
    }
  }

  private boolean again(State state) {
    return state.backward.merge(state.pc, 1, Integer::sum) <= rounds;
  }

  private void load(State state, Instruction.Load load, long conditional) {
    for (int value : values.get(load.address().location())) {
      State next = new State(state);
      long self = 1L << next.events.size();
      next.events.add(
          event(load.site(), load.address(), load.access())
              .read(value)
              .build(conditional | state.control));
      next.registers.put(load.target(), new Value(value, self | conditional));
      follow(next);
    }
  }

  private void atomic(State state, Instruction.Atomic atomic, long conditional) {
    Value operand = state.value(atomic.operand());
    Value compare = atomic.compare() == null ? new Value(0, 0) : state.value(atomic.compare());
    long happens = conditional | state.control;
    for (int value : values.get(atomic.address().location())) {
      State next = new State(state);
      long self = 1L << next.events.size();
      EventBuilder read = event(atomic.site(), atomic.address(), atomic.access()).read(value);
      if (atomic.target() == null) {
        read.reduction();
      } else {
        next.registers.put(atomic.target(), new Value(value, self | conditional));
      }
      next.events.add(read.build(happens));
      if (atomic.operation() != Rmw.COMPARE_AND_SWAP || value == compare.value) {
        int written =
            (int)
                atomic
                    .operation()
                    .apply(
                        Integer.toUnsignedLong(value),
                        Integer.BYTES,
                        Integer.toUnsignedLong(operand.value),
                        Integer.toUnsignedLong(compare.value));
        // What an exchange writes does not depend on what it reads.
        long own = atomic.operation() == Rmw.EXCHANGE ? 0 : self;
        next.events.add(
            event(atomic.site(), atomic.address(), atomic.access())
                .write(written)
                .joined()
                .build(happens | operand.dependencies | compare.dependencies | own));
      }
      follow(next);
    }
  }

  private void barrier(State state, Barrier barrier, long conditional) {
    int given = barrier.predicate() == null ? 0 : state.value(barrier.predicate()).value;
    int id = state.value(barrier.id()).value;
    int count = barrier.count() == null ? 0 : state.value(barrier.count()).value;
    if (id < 0 || id > Barrier.LAST_ID || count < 0 || (count == 0 && barrier.count() != null)) {
      return; // undefined: no such barrier, or nobody takes part
    }
    EventBuilder event =
        event(barrier.site(), null, 0)
            .barrier(new BarrierUse(barrier, id, count, given == 0 ? 0 : 1));
    if (barrier.kind() != BarrierKind.ARRIVE) {
      State blocked = new State(state);
      blocked.events.add(event.build(0));
      finish(blocked, true);
    }
    for (int result : results(barrier)) {
      State next = new State(state);
      next.events.add(event.read(result).build(0));
      if (barrier.target() != null) {
        next.registers.put(barrier.target(), new Value(result, conditional));
      }
      follow(next);
    }
  }

  /** Enumerates what a barrier reduction may yield; the schedule of the barriers settles which. */
  private Set<Integer> results(Barrier barrier) {
    Set<Integer> results = new TreeSet<>(Set.of(0));
    if (barrier.target() != null) {
      int most = barrier.kind() == BarrierKind.RED_POPC ? test.threadsOfCta(number) : 1;
      for (int result = 1; result <= most; result++) {
        results.add(result);
      }
    }
    return results;
  }

  private static void compute(State state, Instruction.Compute compute, long conditional) {
    Value a = state.value(compute.a());
    Value b = state.value(compute.b());
    Arithmetic operation = compute.operation();
    boolean same =
        compute.a().equals(compute.b())
            && (operation == Arithmetic.XOR || operation == Arithmetic.SUB);
    boolean masked = operation == Arithmetic.AND && isZero(compute.a(), compute.b());
    long dependencies = same || masked ? 0 : a.dependencies | b.dependencies;
    int value = operation.apply(a.value, b.value, compute.signed());
    state.registers.put(compute.target(), new Value(value, dependencies | conditional));
  }

  private static boolean isZero(Operand a, Operand b) {
    Operand zero = new Operand.Constant(0);
    return a.equals(zero) || b.equals(zero);
  }

  private void note(List<Event> events) {
    int writes = 0;
    for (Event event : events) {
      if (event.writes()) {
        written.add(new Written(event.location(), event.writeValue()));
        writes++;
      }
    }
    mostWrites = Math.max(mostWrites, writes);
  }

  private void finish(State state, boolean blocked) {
    note(state.events);
    if (traces.size() == MOST) {
      throw new Budget.ExhaustedException();
    }
    traces.add(new ThreadTrace(List.copyOf(state.events), values(state), blocked, false, 0));
  }

  private static Map<String, Integer> values(State state) {
    Map<String, Integer> registers = new HashMap<>();
    state.registers.forEach((name, value) -> registers.put(name, value.value));
    return Map.copyOf(registers);
  }

  private EventBuilder event(Instruction.Site site, @Nullable Address address, int access) {
    return new EventBuilder(site, address, access);
  }

  private final class EventBuilder {
    private final Instruction.Site site;
    private final @Nullable Address address;
    private final int access;
    private boolean reads;
    private int readValue;
    private boolean writes;
    private int writeValue;
    private boolean joined;
    private boolean reduction;
    private @Nullable BarrierUse barrier;
    private Instruction.@Nullable ProxyFence proxyFence;

    EventBuilder(Instruction.Site site, @Nullable Address address, int access) {
      this.site = site;
      this.address = address;
      this.access = access;
    }

    EventBuilder read(int value) {
      reads = address != null;
      readValue = value;
      return this;
    }

    EventBuilder write(int value) {
      writes = true;
      writeValue = value;
      return this;
    }

    EventBuilder joined() {
      joined = true;
      return this;
    }

    EventBuilder reduction() {
      reduction = true;
      return this;
    }

    EventBuilder barrier(BarrierUse use) {
      barrier = use;
      return this;
    }

    EventBuilder proxyFence(Instruction.ProxyFence instruction) {
      proxyFence = instruction;
      return this;
    }

    Event build(long dependencies) {
      return new Event(
          number,
          site.line(),
          site.text(),
          address == null ? -1 : address.location(),
          address,
          access,
          reads,
          readValue,
          writes,
          writeValue,
          joined,
          reduction,
          dependencies,
          barrier,
          proxyFence);
    }
  }

  /**
   * One way through a thread's code, for some values of its loads.
   *
   * @param events in program order
   * @param registers at the end
   * @param blocked the last event is a barrier that never lets the thread go on
   * @param spinning the thread goes round a loop for ever: its last round wrote nothing and left
   *     the registers as the round before
   * @param lastRound the first event of that round
   */
  record ThreadTrace(
      List<Event> events,
      Map<String, Integer> registers,
      boolean blocked,
      boolean spinning,
      int lastRound) {

    boolean ends() {
      return !blocked && !spinning;
    }

    /** Records where a thread that does not end stays. */
    String stays() {
      return spinning && lastRound < events.size()
          ? events.get(lastRound).where()
          : events.isEmpty() ? "a loop without accesses" : events.getLast().where();
    }
  }
}
