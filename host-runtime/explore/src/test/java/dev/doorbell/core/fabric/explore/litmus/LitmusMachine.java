package dev.doorbell.core.fabric.explore.litmus;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Barrier;
import dev.doorbell.core.fabric.explore.litmus.Instruction.BarrierKind;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Operand;
import dev.doorbell.core.fabric.explore.litmus.LitmusResult.Outcome;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.Bounds;
import dev.doorbell.core.fabric.explore.model.AccessLog;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Actor.Meeting;
import dev.doorbell.core.fabric.explore.model.Actor.ScopeLocation;
import dev.doorbell.core.fabric.explore.model.Clock;
import dev.doorbell.core.fabric.explore.model.MemoryMachine;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.fabric.explore.search.SystematicSearch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Runs a litmus test on the {@link MemoryMachine} that explores kernels, with every interleaving
 * that somebody could tell from another and every value that a load may return. Its outcomes must
 * be among those that the axioms allow. The machine has one proxy and one address a location; a
 * test of others is not run.
 */
final class LitmusMachine {
  /** Bounds that are enough for everything that fits a screen. */
  static final Bounds USUAL = new Bounds(2, 5_000_000);

  private final LitmusTest test;
  private final Bounds bounds;
  private final List<String> observables;
  private final SystematicSearch search = new SystematicSearch(false, true);
  private final SortedMap<Outcome, Long> shown = new TreeMap<>();
  private boolean conflicts;
  private long deadlocks;

  private LitmusMachine(LitmusTest test, Bounds bounds) {
    this.test = test;
    this.bounds = bounds;
    Set<String> names = new LinkedHashSet<>();
    test.condition().observables(names);
    test.filter().observables(names);
    observables = List.copyOf(names);
  }

  /** Returns true if an access is by an alias or by another proxy than the generic one. */
  static boolean usesProxies(LitmusTest test) {
    return test.threads().stream()
        .flatMap(thread -> thread.code().stream())
        .map(
            instruction ->
                switch (instruction) {
                  case Instruction.Load load -> load.address();
                  case Instruction.Store store -> store.address();
                  case Instruction.Atomic atomic -> atomic.address();
                  default -> null;
                })
        .anyMatch(
            address ->
                address != null
                    && (address.proxy() != Instruction.Proxy.GENERIC
                        || address.virtual() != address.location()));
  }

  /** Runs it, at most {@code bounds.candidates()} times. */
  static MachineResult run(LitmusTest test, Bounds bounds) {
    return new LitmusMachine(test, bounds).run();
  }

  private MachineResult run() {
    boolean more = !usesProxies(test);
    while (more && search.executions() + search.cut() < bounds.candidates() && !bounds.isOver()) {
      search.begin();
      new Run().go();
      more = search.end();
    }
    return new MachineResult(shown, deadlocks, conflicts, search.executions(), !more);
  }

  /** The state of a thread after an instruction. */
  private enum State {
    RUNNING,
    WAITING,
    /** It went round a loop too often, or used a barrier wrongly. */
    LOST,
    ENDED
  }

  /** A thread of one run. */
  private static final class Runner {
    final Actor actor;
    final Map<String, Integer> registers;
    final Map<Integer, Integer> backward = new HashMap<>();
    int pc;
    State state = State.RUNNING;

    Runner(Actor actor, Map<String, Integer> registers) {
      this.actor = actor;
      this.registers = new HashMap<>(registers);
    }

    int value(Operand operand) {
      return switch (operand) {
        case Operand.Constant constant -> constant.value();
        case Operand.Register register -> registers.getOrDefault(register.name(), 0);
      };
    }
  }

  /**
   * Somebody at a barrier, and the meeting that is to take place there.
   *
   * @param expected how many threads take part
   */
  private record Arrival(
      int thread, Barrier barrier, int id, int expected, boolean predicate, Meeting meeting) {}

  /** One run: a sequence of choices. */
  private final class Run {
    private final MemoryMachine machine;
    private final Words words;
    private final List<Runner> runners = new ArrayList<>();
    private final List<Arrival> arrived = new ArrayList<>();

    Run() {
      words = new Words(test.initial());
      machine =
          new MemoryMachine(
              search,
              MemoryMachine.Options.exhaustive(Policy.STRICT),
              words,
              conflict -> conflicts = true);
      machine.listen(search);
      for (int thread = 0; thread < test.threads().size(); thread++) {
        LitmusTest.LitmusThread code = test.threads().get(thread);
        ScopeLocation place = ScopeLocation.thread(0, code.place().gpu(), code.place().cta());
        runners.add(new Runner(machine.thread(place, new Clock(), code.name()), code.registers()));
      }
    }

    void go() {
      for (long ready = ready(); ready != 0; ready = ready()) {
        int one = search.next(ready);
        if (one == SystematicSearch.STOP) {
          return; // seen before
        }
        if (!step(one)) {
          runners.get(one).state = State.LOST; // the others go on: their orders count
        }
      }
      if (runners.stream().anyMatch(runner -> runner.state == State.LOST)) {
        return;
      }
      if (runners.stream().anyMatch(runner -> runner.state == State.WAITING)) {
        deadlocks++;
      } else {
        record();
      }
    }

    private void record() {
      List<Integer> values = new ArrayList<>();
      for (String name : observables) {
        values.add(observed(name));
      }
      Outcome outcome = new Outcome(observables, values);
      if (test.filter().holds(outcome::value)) {
        shown.merge(outcome, 1L, Long::sum);
      }
    }

    private int observed(String name) {
      int location = test.locations().indexOf(name);
      if (location >= 0) {
        return (int) words.word(Words.address(location));
      }
      int colon = name.indexOf(':');
      int thread = Integer.parseInt(name.substring(1, colon));
      return runners.get(thread).registers.getOrDefault(name.substring(colon + 1), 0);
    }

    private long ready() {
      long ready = 0;
      for (int thread = 0; thread < runners.size(); thread++) {
        if (runners.get(thread).state == State.RUNNING) {
          ready |= 1L << thread;
        }
      }
      return ready;
    }

    /** Executes up to and with the next instruction that others can notice. */
    private boolean step(int thread) {
      Runner runner = runners.get(thread);
      List<Instruction> code = test.threads().get(thread).code();
      while (runner.pc < code.size()) {
        Instruction instruction = code.get(runner.pc++);
        Instruction.Guard guard = instruction.site().guard();
        if (guard != null
            && (runner.registers.getOrDefault(guard.predicate(), 0) != 0) == guard.negated()) {
          continue;
        }
        switch (instruction) {
          case Instruction.Compute compute ->
              runner.registers.put(
                  compute.target(),
                  compute
                      .operation()
                      .apply(
                          runner.value(compute.a()), runner.value(compute.b()), compute.signed()));
          case Instruction.Branch branch -> {
            if (branch.target() < runner.pc
                && runner.backward.merge(runner.pc, 1, Integer::sum) > bounds.rounds()) {
              return false;
            }
            runner.pc = branch.target();
          }
          case Instruction.Exit ignored -> runner.pc = code.size();
          case Barrier barrier -> {
            boolean agreed = arrive(thread, barrier);
            end(runner, code);
            return agreed;
          }
          default -> {
            access(runner, instruction);
            end(runner, code);
            return true;
          }
        }
      }
      end(runner, code);
      return true;
    }

    /** Marks a thread that has nothing left to do, so that its end is no step of its own. */
    private void end(Runner runner, List<Instruction> code) {
      if (runner.pc >= code.size() && runner.state == State.RUNNING) {
        runner.state = State.ENDED;
      }
    }

    private void access(Runner runner, Instruction instruction) {
      switch (instruction) {
        case Instruction.Load load ->
            runner.registers.put(
                load.target(),
                (int)
                    machine.load(
                        runner.actor,
                        Words.address(load.address().location()),
                        Integer.BYTES,
                        load.access(),
                        load.site()));
        case Instruction.Store store ->
            machine.store(
                runner.actor,
                Words.address(store.address().location()),
                Integer.BYTES,
                Integer.toUnsignedLong(runner.value(store.value())),
                store.access(),
                store.site());
        case Instruction.Atomic atomic -> {
          long old =
              machine.atomic(
                  runner.actor,
                  atomic.operation(),
                  Words.address(atomic.address().location()),
                  Integer.BYTES,
                  Integer.toUnsignedLong(runner.value(atomic.operand())),
                  atomic.compare() == null
                      ? 0
                      : Integer.toUnsignedLong(runner.value(atomic.compare())),
                  atomic.access() | (atomic.target() == null ? Access.REDUCTION : 0),
                  atomic.site());
          if (atomic.target() != null) {
            runner.registers.put(atomic.target(), (int) old);
          }
        }
        case Instruction.Fence fence -> machine.fence(runner.actor, fence.access());
        default -> throw new IllegalArgumentException("not an access: " + instruction);
      }
    }

    private boolean arrive(int thread, Barrier barrier) {
      Runner runner = runners.get(thread);
      boolean predicate = barrier.predicate() != null && runner.value(barrier.predicate()) != 0;
      int id = runner.value(barrier.id());
      int expected =
          barrier.count() == null ? test.threadsOfCta(thread) : runner.value(barrier.count());
      if (id < 0 || id > Barrier.LAST_ID || expected < 1) {
        return false;
      }
      search.wrote(AccessLog.FENCES - 1 - test.threads().get(thread).place().cta(), true, null);
      List<Arrival> here = new ArrayList<>();
      for (Arrival other : arrived) {
        if (other.id == id && sameCta(other.thread, thread)) {
          if (other.expected != expected) {
            return false;
          }
          here.add(other);
        }
      }
      Meeting meeting = here.isEmpty() ? new Meeting() : here.getFirst().meeting;
      meeting.arrive(runner.actor);
      Arrival arrival = new Arrival(thread, barrier, id, expected, predicate, meeting);
      here.add(arrival);
      if (barrier.kind() != BarrierKind.ARRIVE) {
        runner.state = State.WAITING;
      }
      if (here.size() < expected) {
        arrived.add(arrival);
      } else {
        arrived.removeAll(here);
        complete(here);
      }
      return true;
    }

    private boolean sameCta(int a, int b) {
      return test.threads().get(a).place().sameCta(test.threads().get(b).place());
    }

    private void complete(List<Arrival> all) {
      long count = all.stream().filter(Arrival::predicate).count();
      long reducing = all.stream().filter(a -> a.barrier.predicate() != null).count();
      for (Arrival arrival : all) {
        if (arrival.barrier.kind() == BarrierKind.ARRIVE) {
          continue;
        }
        Runner runner = runners.get(arrival.thread);
        arrival.meeting.leave(runner.actor);
        search.woke(arrival.thread);
        runner.state =
            runner.pc < test.threads().get(arrival.thread).code().size()
                ? State.RUNNING
                : State.ENDED;
        if (arrival.barrier.target() != null) {
          runner.registers.put(
              arrival.barrier.target(),
              switch (arrival.barrier.kind()) {
                case RED_AND -> count == reducing ? 1 : 0;
                case RED_OR -> count > 0 ? 1 : 0;
                default -> (int) count;
              });
        }
      }
    }
  }

  /** The locations' memory: a word of 8 bytes each, the value in its low half. */
  private static final class Words implements MemoryMachine.Backing {
    private static final long FIRST = 0x1000;

    private final long[] words;

    Words(List<Integer> initial) {
      words = initial.stream().mapToLong(Integer::toUnsignedLong).toArray();
    }

    static long address(int location) {
      return FIRST + (long) location * Long.BYTES;
    }

    private static int index(long address) {
      return (int) (address - FIRST) / Long.BYTES;
    }

    @Override
    public long word(long address) {
      return words[index(address)];
    }

    @Override
    public void store(long address, long value, long mask) {
      int index = index(address);
      words[index] = (words[index] & ~mask) | (value & mask);
    }

    @Override
    public boolean onGpu(long address) {
      return true;
    }
  }

  /**
   * The outcomes that the machine that explores kernels shows of a test.
   *
   * @param shown outcomes that meet the test's filter, and in how many runs each
   * @param deadlocks runs in which threads waited at a barrier for ever
   * @param conflicts whether the machine reported anything
   * @param runs how many there were; 0 for a test of proxies, which the machine does not have
   * @param complete every choice was tried, loops aside
   */
  record MachineResult(
      SortedMap<Outcome, Long> shown,
      long deadlocks,
      boolean conflicts,
      long runs,
      boolean complete) {

    /** Outcomes that the axioms forbid: a fault of the machine. */
    SortedSet<Outcome> wrong(LitmusResult axioms) {
      SortedSet<Outcome> wrong = new TreeSet<>(shown.keySet());
      wrong.removeAll(axioms.allowed().keySet());
      return wrong;
    }

    /**
     * Outcomes that the axioms allow and the machine cannot show: a limit of it; none if not run.
     */
    SortedSet<Outcome> missed(LitmusResult axioms) {
      if (runs == 0) {
        return new TreeSet<>();
      }
      SortedSet<Outcome> missed = new TreeSet<>(axioms.allowed().keySet());
      missed.removeAll(shown.keySet());
      return missed;
    }
  }
}
