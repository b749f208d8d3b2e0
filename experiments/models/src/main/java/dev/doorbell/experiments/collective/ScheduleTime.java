package dev.doorbell.experiments.collective;

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Time of a schedule, or of several channels side by side, in the LogGP model (Alexandrov, Ionescu,
 * Schauser and Scheiman, LogGP: incorporating long messages into the LogP model): all ranks begin
 * at once, a rank's port sends one message after the other, and receives likewise. Nothing else is
 * shared.
 */
public final class ScheduleTime {
  private final List<Schedule> channels;
  private final int ranks;
  private final StepCosts costs;
  // By block: channel x ranks + rank.
  private final int[] next;
  private final int[] lastTo;
  private final double[] clock;
  // By rank.
  private final double[] sending;
  private final double[] sendingNear;
  private final double[] receiving;
  private final double[] receivingNear;
  private final Map<Message, Double> arrived = new HashMap<>();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingDouble(Event::at).thenComparingInt(Event::block));

  private ScheduleTime(List<Schedule> channels, StepCosts costs) {
    this.channels = channels;
    this.ranks = channels.getFirst().steps().size();
    this.costs = costs;
    int blocks = channels.size() * ranks;
    this.next = new int[blocks];
    this.lastTo = new int[blocks];
    Arrays.fill(lastTo, -1);
    this.clock = new double[blocks];
    this.sending = new double[ranks];
    this.sendingNear = new double[ranks];
    this.receiving = new double[ranks];
    this.receivingNear = new double[ranks];
  }

  /**
   * Nanoseconds until the last rank is done.
   *
   * @throws IllegalStateException when ranks wait for messages that no rank sends
   */
  public static double of(List<Schedule> channels, StepCosts costs) {
    ScheduleTime time = new ScheduleTime(channels, costs);
    time.run();
    return Arrays.stream(time.clock).max().orElse(0);
  }

  /** A block can take its next step, or, with a message, that message's first byte reaches it. */
  private record Event(double at, int block, @Nullable Message message) {}

  private void run() {
    for (int block = 0; block < next.length; block++) {
      enqueue(block);
    }
    for (Event event = events.poll(); event != null; event = events.poll()) {
      int block = event.block();
      Message message = event.message();
      if (message == null) {
        perform(block, steps(block).get(next[block]), event.at());
        next[block]++;
        enqueue(block);
      } else {
        receive(block, message, event.at());
      }
    }
    for (int block = 0; block < next.length; block++) {
      if (next[block] < steps(block).size()) {
        throw new IllegalStateException("ranks wait for each other: " + Arrays.toString(next));
      }
    }
  }

  private List<Step> steps(int block) {
    return channels.get(block / ranks).steps().get(block % ranks);
  }

  /** A block whose next step awaits a message is ready when that message has arrived. */
  private void enqueue(int block) {
    List<Step> steps = steps(block);
    if (next[block] == steps.size()) {
      return;
    }
    Message awaited = steps.get(next[block]).awaited();
    Double at = awaited == null ? Double.valueOf(0) : arrived.get(awaited);
    if (at != null) {
      events.add(new Event(Math.max(clock[block], at), block, null));
    }
  }

  private void perform(int block, Step step, double from) {
    Message awaited = step.awaited();
    clock[block] = from + costs.step() + (awaited == null ? 0 : costs.await());
    if (step.combine() == Step.Combine.SWITCH) {
      // Each port carries what all ranks have the switch add, all at once, and the sums.
      int rank = block % ranks;
      StepCosts.Near near = costs.near();
      double wire = step.bytes() * near.perByte() * (ranks + 1 + ranks * near.request());
      sendingNear[rank] = Math.max(sendingNear[rank], clock[block]) + wire;
      double turns = Math.ceil((double) step.bytes() / costs.turnBytes());
      clock[block] = Math.max(clock[block] + turns * near.turn(), sendingNear[rank]);
    } else if (step.combine() != Step.Combine.NONE) {
      clock[block] += costs.combine(step.bytes(), awaited != null && awaited.packed());
    }
    Message sent = step.sent();
    if (sent != null) {
      // What is reduced is stored at a near peer by the same loop.
      boolean forwards =
          step.combine() == Step.Combine.REDUCE
              && step.source() == step.target()
              && !sent.packed()
              && !(awaited != null && awaited.packed());
      send(block, sent, forwards);
    }
  }

  private void send(int block, Message message, boolean forwards) {
    if (message.to() != lastTo[block]) {
      clock[block] += costs.other();
      lastTo[block] = message.to();
    }
    double wire = wire(message);
    double first;
    if (near(message)) {
      // The block itself stores the data: its time is that of a copy, or of the port.
      StepCosts.Near near = costs.near();
      clock[block] += near.post();
      double stored =
          forwards
              ? message.bytes() * costs.storedPerByte()
              : costs.combine(message.bytes(), message.packed());
      double copied = clock[block] + stored;
      sendingNear[message.from()] = Math.max(sendingNear[message.from()], clock[block]) + wire;
      clock[block] =
          Math.max(copied, sendingNear[message.from()])
              + (hasFlagBehind(message) ? near.flag() : 0);
      first = clock[block] - wire + near.latency();
    } else {
      if (message.packed()) {
        clock[block] += costs.combine(message.bytes(), true);
      }
      clock[block] += costs.post() + (hasFlagBehind(message) ? costs.flag() : 0);
      sending[message.from()] = Math.max(sending[message.from()], clock[block]) + wire;
      first = sending[message.from()] - wire + costs.latency();
    }
    events.add(new Event(first, block - message.from() + message.to(), message));
  }

  private boolean near(Message message) {
    return channels.getFirst().near(message);
  }

  private static boolean hasFlagBehind(Message message) {
    return !message.packed() && message.bytes() > 0;
  }

  /** Returns what a message takes to leave. */
  private double wire(Message message) {
    return wire(message, costs.perByte());
  }

  private double wire(Message message, double farPerByte) {
    double perByte = near(message) ? costs.near().perByte() : farPerByte;
    return (message.packed() ? 2 : 1) * message.bytes() * perByte;
  }

  private void receive(int block, Message message, double first) {
    int rank = message.to();
    double[] port = near(message) ? receivingNear : receiving;
    port[rank] = Math.max(port[rank], first) + wire(message, costs.arrivingPerByte());
    // Its last byte arrives no sooner than it left.
    arrived.put(message, Math.max(port[rank], first + wire(message)));
    List<Step> steps = steps(block);
    if (next[block] < steps.size() && message.equals(steps.get(next[block]).awaited())) {
      enqueue(block);
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
   * @param storedPerByte what a block takes to store a byte, at least
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
      double storedPerByte,
      Near near) {

    /**
     * Costs of a message that a block stores into a peer's memory.
     *
     * @param post beside the copy, until the block goes on
     * @param flag what a flag behind the data adds to that: the stores have to be there before it
     * @param latency from the last store until the peer's poll sees it
     * @param perByte of a port, each direction
     * @param request what reading a byte through the switch takes of a port beside the byte
     * @param turn one turn of a block's loop that has the switch add
     */
    public record Near(
        double post, double flag, double latency, double perByte, double request, double turn) {
      /** Without NVLink no message is near. */
      public static final Near NONE = new Near(0, 0, 0, 0, 0, 0);
    }

    double combine(long bytes, boolean packed) {
      long each = packed ? packedTurnBytes : turnBytes;
      long turns = (bytes + each - 1) / each;
      return Math.max(turns * turn, bytes * storedPerByte);
    }
  }
}
