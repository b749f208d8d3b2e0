package dev.doorbell.experiments.scenario.scheduling;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0 sends messages to rank 1 as they arrive: a host that keeps a number of them in flight and
 * chooses the next one by a schedule. Each is a kernel that puts it over a queue pair of its own,
 * or several where it goes in pieces. Choosing takes no time.
 */
final class Sender implements Trial, AutoCloseable {
  private static final String KERNEL = "put_bandwidth";

  /**
   * How a sender goes about it.
   *
   * @param window messages, or pieces, in flight
   * @param chunk bytes of a piece, where messages go in pieces
   * @param nanos after which kernels are stopped
   */
  record Shape(
      Schedule schedule, int window, int chunk, int jobPath, Endpoint.Shape endpoint, long nanos) {}

  private final World world;
  private final Shape shape;
  private final List<Message> messages;
  private final long seed;
  private final Owned open = new Owned();
  private final Agent idle = budget -> 0;
  private final DevicePort clock;
  private final long began;
  private final List<Message> waiting = new ArrayList<>();
  private final List<Piece> inFlight = new ArrayList<>();
  private final List<Piece> sent = new ArrayList<>();

  /** Of each message, by number: bytes that have not been posted. */
  private final int[] left;

  /** Of each message, by number: when its last piece was complete, from the beginning on. */
  private final long[] ended;

  /** How many messages have arrived. */
  private int arrived;

  /** A message has arrived since the last look. */
  private boolean woken;

  /** Bytes of a message that one kernel puts. */
  private record Piece(Message message, RankBuffers from, RankBuffers to, Launch launch) {}

  /** Takes {@code world}, which it closes, and {@code messages} in the order of their arrival. */
  Sender(World world, Shape shape, List<Message> messages, long seed) {
    this.world = open.add(world);
    this.shape = shape;
    this.messages = messages;
    this.seed = seed;
    this.left = messages.stream().mapToInt(Message::bytes).toArray();
    this.ended = new long[messages.size()];
    this.clock = world.fabric().attachDevice(Locus.nic(0, 0), idle);
    this.began = world.fabric().now();
    open.add(() -> world.fabric().detach(idle));
  }

  @Override
  public Fabric fabric() {
    return world.fabric();
  }

  /** Kernels are launched as messages arrive. */
  @Override
  public List<Supplier<Launch>> prepare() {
    alarm();
    return List.of();
  }

  @Override
  public RunOutcome advance(BooleanSupplier done, long nanos) {
    long end = now() + nanos;
    while (true) {
      collect();
      post();
      if (sent.size() > 0 && inFlight.isEmpty() && waiting.isEmpty() && allArrived()) {
        return RunOutcome.DONE;
      }
      long time = end - now();
      if (time <= 0) {
        return RunOutcome.DEADLINE;
      }
      woken = false;
      RunOutcome outcome = world.fabric().run(this::mayGoOn, time);
      if (outcome == RunOutcome.STALLED) {
        return outcome;
      }
    }
  }

  private boolean mayGoOn() {
    return woken || inFlight.stream().anyMatch(piece -> piece.launch.done());
  }

  private long now() {
    return world.fabric().now() - began;
  }

  private boolean allArrived() {
    return arrived == messages.size();
  }

  /** Messages join those that wait when they arrive. */
  private void alarm() {
    while (!allArrived() && messages.get(arrived).arrival() <= now()) {
      waiting.add(messages.get(arrived++));
      woken = true;
    }
    if (!allArrived()) {
      clock.timer(messages.get(arrived).arrival() - now(), ok -> alarm());
    }
  }

  private void collect() {
    for (Piece piece : List.copyOf(inFlight)) {
      if (piece.launch.done()) {
        piece.launch.check();
        inFlight.remove(piece);
        int number = piece.message.number();
        if (piece.from.stamped()) {
          ended[number] = Math.max(ended[number], piece.from.ended() - began);
        }
      }
    }
  }

  private void post() {
    while (inFlight.size() < shape.window && !waiting.isEmpty()) {
      Message message = shape.schedule.next(waiting);
      int bytes = shape.schedule.piece(left[message.number()], shape.chunk);
      waiting.remove(message);
      left[message.number()] -= bytes;
      if (left[message.number()] > 0) {
        waiting.add(message);
      }
      Piece piece = launch(message, bytes);
      inFlight.add(piece);
      sent.add(piece);
    }
  }

  private Piece launch(Message message, int bytes) {
    Connection connection = open.add(Connection.between(world, 0, 1, shape.endpoint));
    long salt = seed + 2L * sent.size();
    RankBuffers from = open.add(new RankBuffers(connection, world.rank(0), bytes, salt));
    RankBuffers to = open.add(new RankBuffers(connection, world.rank(1), bytes, salt + 1));
    JobView job = new JobView();
    job.iterations = 1;
    job.path = shape.jobPath;
    job.scope = JobView.SCOPE_BLOCK;
    job.window = 1;
    LaunchConfig config = LaunchConfig.of(1, 1).withTimeout(shape.nanos);
    return new Piece(message, from, to, from.launch(Protocol.ofCatalogue(KERNEL), job, to, config));
  }

  @Override
  public @Nullable String firstError() {
    return sent.stream()
        .map(piece -> piece.from.firstError())
        .filter(error -> error != null)
        .findFirst()
        .orElse(null);
  }

  @Override
  public @Nullable String mismatch() {
    return sent.stream()
        .map(piece -> piece.to.mismatch(piece.from))
        .filter(mismatch -> mismatch != null)
        .findFirst()
        .orElse(null);
  }

  @Override
  public long verifiedBytes() {
    return sent.stream().mapToLong(piece -> piece.to.bytes()).sum();
  }

  /** Nanoseconds from a message's arrival until it was complete. */
  long response(Message message) {
    return ended[message.number()] - message.arrival();
  }

  /** Whether a message was complete after it was due. */
  boolean missed(Message message) {
    return ended[message.number()] > message.due();
  }

  /** Nanoseconds from the beginning until all messages were complete. */
  long nanos() {
    long last = 0;
    for (long end : ended) {
      last = Math.max(last, end);
    }
    return last;
  }

  @Override
  public void close() {
    open.close();
  }
}
