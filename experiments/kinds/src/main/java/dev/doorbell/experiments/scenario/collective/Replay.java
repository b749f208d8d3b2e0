package dev.doorbell.experiments.scenario.collective;

import dev.doorbell.core.fabric.Fabric.AgentsEnded;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.experiments.chakra.ExecutionTrace;
import dev.doorbell.experiments.chakra.ExecutionTrace.Node;
import dev.doorbell.experiments.chakra.ExecutionTrace.Operation;
import dev.doorbell.experiments.chakra.ExecutionTrace.Unit;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.collective.CollectiveModel.Choice;
import dev.doorbell.experiments.scenario.collective.CollectiveSettings.Chosen;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Executes a trace: each rank begins a node when those before it are done and its part of the rank
 * is free, the lowest id first. Where the fabric has nothing to do until a computation ends, time
 * goes on without it.
 */
final class Replay implements AutoCloseable {
  private static final long SLICE_NANOS = 200_000;

  /** Two days: longer than any node takes. */
  private static final long DEADLINE_NANOS = 172_800_000_000_000L;

  /** No collective takes so long, and no rank computes: the ranks wait for each other. */
  private static final long STUCK_NANOS = 2_000_000_000;

  private static final long MOST_MEMORY = 12L << 30;
  private static final Deque<CollectiveTrial> NONE = new ArrayDeque<>();

  private final PointRun<TraceKind.Settings> run;
  private final World world;
  private final List<Operation> operations;
  private final List<RankState> ranks = new ArrayList<>();
  private final List<Running> running = new ArrayList<>();
  private final Map<Integer, Meeting> meetings = new HashMap<>();
  private final Map<Operation, Deque<CollectiveTrial>> idle = new HashMap<>();
  private long memory;

  /** Nanoseconds in which the fabric stood still. */
  private long skipped;

  private long lastEnd;

  Replay(PointRun<TraceKind.Settings> run, World world, ExecutionTrace trace) {
    this.run = run;
    this.world = world;
    this.operations = trace.operations();
    trace.ranks().forEach(nodes -> ranks.add(new RankState(nodes)));
  }

  /** A node under way: a kernel, or what ends at a time. */
  private record Running(int rank, int node, @Nullable Launch launch, long end) {
    boolean done(long now) {
      return launch == null ? end <= now : launch.done();
    }
  }

  /** An operation that some of its ranks have begun. */
  private static final class Meeting {
    final CollectiveTrial trial;
    final List<Supplier<Launch>> starts;
    int left;

    Meeting(CollectiveTrial trial) {
      this.trial = trial;
      this.starts = trial.prepare();
      this.left = starts.size();
    }
  }

  private static final class RankState {
    final List<Node> nodes;
    final int[][] waiting;
    final int[] left;
    final Map<Unit, PriorityQueue<Integer>> ready = new EnumMap<>(Unit.class);
    final Set<Unit> busy = EnumSet.noneOf(Unit.class);
    long compute;
    long finish;

    RankState(List<Node> nodes) {
      this.nodes = nodes;
      this.waiting = ExecutionTrace.waiting(nodes);
      this.left = nodes.stream().mapToInt(node -> node.after().length).toArray();
      for (int i = 0; i < left.length; i++) {
        enqueue(i);
      }
    }

    void enqueue(int node) {
      if (left[node] == 0) {
        Unit unit = nodes.get(node).unit();
        ready.computeIfAbsent(unit, _ -> new PriorityQueue<>()).add(node);
      }
    }

    @Nullable Integer next(Unit unit) {
      PriorityQueue<Integer> queue = ready.get(unit);
      if (queue == null || queue.isEmpty() || (unit != Unit.NONE && !busy.add(unit))) {
        return null;
      }
      return queue.poll();
    }

    void end(int node, long now) {
      busy.remove(nodes.get(node).unit());
      finish = now;
      for (int other : waiting[node]) {
        left[other]--;
        enqueue(other);
      }
    }
  }

  /** Executes every node; returns the times of each rank. */
  List<Samples> run() throws PointFailure {
    for (begin(); !running.isEmpty(); begin()) {
      if (!endSome()) {
        goOn();
      }
    }
    return List.of(
        samples("finish", of -> of.finish),
        samples("compute", of -> of.compute),
        samples("exposed", of -> of.finish - of.compute));
  }

  private Samples samples(String metric, ToLongFunction<RankState> nanos) {
    return Samples.of(metric, "ns", ranks.stream().mapToLong(nanos).asDoubleStream().toArray());
  }

  private long now() {
    return world.fabric().now() + skipped;
  }

  private void begin() throws PointFailure {
    for (int rank = 0; rank < ranks.size(); rank++) {
      for (Unit unit : Unit.values()) {
        for (Integer node = ranks.get(rank).next(unit);
            node != null;
            node = ranks.get(rank).next(unit)) {
          begin(rank, node);
        }
      }
    }
  }

  private void begin(int rank, int index) throws PointFailure {
    Node node = ranks.get(rank).nodes.get(index);
    if (node.operation() == ExecutionTrace.ALONE) {
      long nanos = run.settings().nanos(node);
      ranks.get(rank).compute += node.unit() == Unit.COMPUTE ? nanos : 0;
      running.add(new Running(rank, index, null, now() + nanos));
    } else {
      Operation operation = operations.get(node.operation());
      Meeting meeting = meetings.get(node.operation());
      if (meeting == null) {
        CollectiveTrial free = idle.getOrDefault(operation, NONE).poll();
        meeting = new Meeting(free == null ? trial(operation) : free);
        meetings.put(node.operation(), meeting);
      }
      int member = operation.members().indexOf(rank);
      running.add(new Running(rank, index, meeting.starts.get(member).get(), Long.MAX_VALUE));
    }
  }

  private CollectiveTrial trial(Operation operation) throws PointFailure {
    memory += 3 * operation.size() * operation.members().size();
    if (memory > MOST_MEMORY) {
      throw run.failed(
          ExecutionTrace.CODE,
          "the buffers of its operations are more than 12 GiB",
          "use a trace with fewer ranks, or smaller or fewer different collectives");
    }
    Topology topology = topology(operation.members());
    CollectiveSettings of = run.settings().of(operation, run.settings().algorithm());
    CollectiveSettings auto = run.settings().of(operation, Chosen.AUTO);
    Choice by =
        CollectiveModel.chosen(of, topology)
            .or(() -> CollectiveModel.chosen(auto, topology))
            .orElseThrow();
    return of.trial(
        world.group(operation.members()), by.channels(), topology.ranksOfNode(), DEADLINE_NANOS);
  }

  /**
   * The topology of a group. Its ranks reach each other by HCAs alone where they are not whole
   * nodes, or in one.
   */
  private Topology topology(List<Integer> members) {
    Topology of = run.topology();
    int node = of.ranksOfNode();
    boolean together =
        IntStream.range(0, members.size())
            .allMatch(i -> of.reaches(members.get(i), members.get(i - i % node)));
    return together
        ? of
        : new Topology(
            of.name(),
            of.description(),
            of.gpus(),
            of.cpus(),
            of.nics(),
            of.links(),
            of.paths(),
            of.network(),
            null,
            of.constants());
  }

  /** Ends the nodes that are done; returns whether there were any. */
  private boolean endSome() throws PointFailure {
    long now = now();
    List<Running> ended = running.stream().filter(each -> each.done(now)).toList();
    running.removeIf(each -> each.done(now));
    for (Running each : ended) {
      int operation = ranks.get(each.rank).nodes.get(each.node).operation();
      Meeting meeting = meetings.get(operation);
      if (each.launch != null && meeting != null) {
        each.launch.check();
        if (--meeting.left == 0) {
          verify(meeting.trial);
          meetings.remove(operation);
          idle.computeIfAbsent(operations.get(operation), _ -> new ArrayDeque<>())
              .add(meeting.trial);
        }
      }
      ranks.get(each.rank).end(each.node, now);
      lastEnd = now;
    }
    return !ended.isEmpty();
  }

  private void verify(CollectiveTrial trial) throws PointFailure {
    String error = trial.firstError();
    if (error != null) {
      throw run.failed("DB-P001", error);
    }
    String mismatch = trial.mismatch();
    if (mismatch != null) {
      throw run.mismatch(mismatch);
    }
    run.verified(trial.verifiedBytes());
  }

  private void goOn() throws PointFailure {
    long next = running.stream().mapToLong(Running::end).min().orElse(Long.MAX_VALUE);
    List<Launch> launches = running.stream().map(Running::launch).filter(Objects::nonNull).toList();
    AgentsEnded any = () -> launches.stream().anyMatch(Launch::done);
    boolean still =
        launches.isEmpty()
            || world.fabric().run(any, Math.min(next - now(), SLICE_NANOS)) == RunOutcome.STALLED;
    if (next == Long.MAX_VALUE && (still || now() - lastEnd > STUCK_NANOS)) {
      launches.forEach(launch -> launch.cancel("its peers do not come"));
      throw run.failed(
          "DB-P003",
          "ranks wait for each other: "
              + running.stream().limit(8).map(this::described).collect(Collectors.joining(", ")),
          "they come to their operations in orders that contradict each other");
    }
    skipped += still ? next - now() : 0;
    run.endIfCancelled(launches);
  }

  private String described(Running of) {
    return "rank %d in node %d".formatted(of.rank, ranks.get(of.rank).nodes.get(of.node).id());
  }

  @Override
  public void close() {
    meetings.values().forEach(meeting -> meeting.trial.close());
    idle.values().forEach(some -> some.forEach(CollectiveTrial::close));
  }
}
