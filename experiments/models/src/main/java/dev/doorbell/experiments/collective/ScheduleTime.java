package dev.doorbell.experiments.collective;

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Time of a schedule in the LogGP model (Alexandrov, Ionescu, Schauser and Scheiman, LogGP:
 * incorporating long messages into the LogP model): all ranks begin at once, a rank's port sends
 * one message after the other, and receives likewise. Nothing else is shared.
 */
public final class ScheduleTime {
  private final Schedule schedule;
  private final StepCosts costs;
  private final int[] next;
  private final int[] lastTo;
  private final double[] clock;
  private final double[] sending;
  private final double[] receiving;
  private final double[] receivingNear;
  private final Map<Message, Double> arrived = new HashMap<>();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingDouble(Event::at).thenComparingInt(Event::rank));

  private ScheduleTime(Schedule schedule, StepCosts costs) {
    int ranks = schedule.steps().size();
    this.schedule = schedule;
    this.costs = costs;
    this.next = new int[ranks];
    this.lastTo = new int[ranks];
    Arrays.fill(lastTo, -1);
    this.clock = new double[ranks];
    this.sending = new double[ranks];
    this.receiving = new double[ranks];
    this.receivingNear = new double[ranks];
  }

  /**
   * Nanoseconds until the last rank is done.
   *
   * @throws IllegalStateException when ranks wait for messages that nobody sends
   */
  public static double of(Schedule schedule, StepCosts costs) {
    ScheduleTime time = new ScheduleTime(schedule, costs);
    time.run();
    return Arrays.stream(time.clock).max().orElse(0);
  }

  /** A rank can take its next step, or, with a message, that message's first byte reaches it. */
  private record Event(double at, int rank, @Nullable Message message) {}

  private void run() {
    for (int rank = 0; rank < next.length; rank++) {
      enqueue(rank);
    }
    for (Event event = events.poll(); event != null; event = events.poll()) {
      int rank = event.rank();
      Message message = event.message();
      if (message == null) {
        perform(rank, schedule.steps().get(rank).get(next[rank]), event.at());
        next[rank]++;
        enqueue(rank);
      } else {
        receive(message, event.at());
      }
    }
    for (int rank = 0; rank < next.length; rank++) {
      if (next[rank] < schedule.steps().get(rank).size()) {
        throw new IllegalStateException("ranks wait for each other: " + Arrays.toString(next));
      }
    }
  }

  /** A rank whose next step awaits a message is ready when that message has arrived. */
  private void enqueue(int rank) {
    List<Step> steps = schedule.steps().get(rank);
    if (next[rank] == steps.size()) {
      return;
    }
    Message awaited = steps.get(next[rank]).awaited();
    Double at = awaited == null ? Double.valueOf(0) : arrived.get(awaited);
    if (at != null) {
      events.add(new Event(Math.max(clock[rank], at), rank, null));
    }
  }

  private void perform(int rank, Step step, double from) {
    Message awaited = step.awaited();
    clock[rank] = from + costs.step() + (awaited == null ? 0 : costs.await());
    if (step.combine() != Step.Combine.NONE) {
      clock[rank] += costs.combine(step.bytes(), awaited != null && awaited.packed());
    }
    Message sent = step.sent();
    if (sent != null) {
      send(rank, sent);
    }
  }

  private void send(int rank, Message message) {
    if (message.to() != lastTo[rank]) {
      clock[rank] += costs.other();
      lastTo[rank] = message.to();
    }
    if (schedule.near(message)) {
      sendNear(rank, message);
      return;
    }
    if (message.packed()) {
      clock[rank] += costs.combine(message.bytes(), true);
    }
    clock[rank] += costs.post() + (hasFlagBehind(message) ? costs.flag() : 0);
    double wire = wire(message);
    sending[rank] = Math.max(sending[rank], clock[rank]) + wire;
    events.add(new Event(sending[rank] - wire + costs.latency(), message.to(), message));
  }

  /** The block itself stores the data: its time is that of a copy, or of its port. */
  private void sendNear(int rank, Message message) {
    double wire = wire(message);
    StepCosts.Near near = costs.near();
    clock[rank] +=
        near.post()
            + Math.max(costs.combine(message.bytes(), message.packed()), wire)
            + (hasFlagBehind(message) ? near.flag() : 0);
    events.add(new Event(clock[rank] - wire + near.latency(), message.to(), message));
  }

  private static boolean hasFlagBehind(Message message) {
    return !message.packed() && message.bytes() > 0;
  }

  /** Returns what a message takes to leave. */
  private double wire(Message message) {
    return wire(message, costs.perByte());
  }

  private double wire(Message message, double farPerByte) {
    double perByte = schedule.near(message) ? costs.near().perByte() : farPerByte;
    return (message.packed() ? 2 : 1) * message.bytes() * perByte;
  }

  private void receive(Message message, double first) {
    int rank = message.to();
    double[] port = schedule.near(message) ? receivingNear : receiving;
    port[rank] = Math.max(port[rank], first) + wire(message, costs.arrivingPerByte());
    // Its last byte arrives no sooner than it left.
    arrived.put(message, Math.max(port[rank], first + wire(message)));
    List<Step> steps = schedule.steps().get(rank);
    if (next[rank] < steps.size() && message.equals(steps.get(next[rank]).awaited())) {
      enqueue(rank);
    }
  }

  /**
   * Costs of the steps of a schedule, in nanoseconds: LogGP's parameters, and the work of a block.
   *
   * @param post o: from a put's beginning until the thread goes on
   * @param flag what a flag behind the data adds to that
   * @param other what a message to another rank than the last one adds: its queue pair, or where
   *     its memory is, is in no cache
   * @param latency L: from there until the first byte is at the peer, and a poll sees it
   * @param perByte G: of what leaves a rank, at the port or where the HCA reads it
   * @param arrivingPerByte G: of what arrives, at the port or where the HCA writes it
   * @param turn one turn of a block's loop that copies or reduces
   * @param turnBytes bytes that a turn covers
   * @param packedTurnBytes the same of packed data
   * @param step everything else of a step: reading it, barriers of the block
   * @param await what a step that waits for a message adds: the fence behind a look at its flag
   * @param near of messages inside of a node
   */
  public record StepCosts(
      double post,
      double flag,
      double other,
      double latency,
      double perByte,
      double arrivingPerByte,
      double turn,
      int turnBytes,
      int packedTurnBytes,
      double step,
      double await,
      Near near) {

    /**
     * Costs of a message that a block stores into a peer's memory.
     *
     * @param post beside the copy, until the block goes on
     * @param flag what a flag behind the data adds to that: the stores have to be there before it
     * @param latency from the last store until the peer's poll sees it
     * @param perByte of a port, each direction
     */
    public record Near(double post, double flag, double latency, double perByte) {
      /** Without NVLink no message is near. */
      public static final Near NONE = new Near(0, 0, 0, 0);
    }

    double combine(long bytes, boolean packed) {
      long each = packed ? packedTurnBytes : turnBytes;
      long turns = (bytes + each - 1) / each;
      return turns * turn;
    }
  }
}
