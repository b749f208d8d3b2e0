package dev.doorbell.push;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.push.PushEvent.PushObserver;
import dev.doorbell.push.network.Frame;
import dev.doorbell.push.network.Network;
import dev.doorbell.push.network.Network.Host;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The push engine of an HCA: sends what producers commit to its rings, one message after another
 * and the rings in turn, and receives what its peers send.
 *
 * <p>An agent of its fabric, stepped by one thread. Posted writes are always taken: it holds
 * producers back by credits alone.
 */
public final class PushEngine implements AutoCloseable {
  private static final int SCRATCH_BYTES = 64;
  private static final double PICOS_PER_NANO = 1000;

  final PushOptions options;
  final PushObserver observer;
  final long scratch;
  long firstMessage;

  /** Tests put a port in between that loses writes. */
  DevicePort port;

  private final Fabric fabric;
  final Locus locus;
  private final Network network;
  private final int number;
  private final Agent agent = new Engine();
  private final Arena arena = Arena.ofShared();
  private final List<SendRing> rings = new ArrayList<>();
  private final PushReceiver receiver = new PushReceiver(this);
  private final Completion departure = ok -> departed();
  private final SplittableRandom random;
  private MemorySegment received;
  private @Nullable Message leaving;
  private @Nullable SendRing leavingFrom;
  private @Nullable PushFrame leavingFrame;
  private boolean leavingAgain;
  private long freePicos;
  private int turn;
  private boolean paused;

  private final class Engine implements Agent {
    @Override
    public int step(int budget) {
      return pump();
    }

    @Override
    public String where() {
      return state();
    }

    @Override
    public String name() {
      return "push engine " + number;
    }
  }

  /** The other end of the engine's cable. */
  private final class Plug implements Host {
    @Override
    public void arrive(Frame frame) {
      receive((PushFrame) frame);
    }

    @Override
    public void pause(boolean now) {
      paused = now;
      fabric.wake(agent);
    }
  }

  /**
   * An engine at {@code nic}, on {@code network}.
   *
   * @param observer called for every event
   */
  public PushEngine(
      Fabric fabric, Locus nic, Network network, PushOptions options, PushObserver observer) {
    this.fabric = fabric;
    this.locus = nic;
    this.network = network;
    this.options = options;
    this.observer = observer;
    this.random = new SplittableRandom(options.service().exponentialSeed());
    this.scratch = arena.allocate(SCRATCH_BYTES, SCRATCH_BYTES).address();
    this.received = arena.allocate(SCRATCH_BYTES, SCRATCH_BYTES);
    this.port = fabric.attachDevice(nic, agent);
    this.number = network.attach(new Plug());
  }

  /** Number by which peers and kernels name it as a destination. */
  public int number() {
    return number;
  }

  /**
   * Opens a ring.
   *
   * @param credit address in GPU memory that credits are written to
   */
  public SendRing openRing(RingShape shape, long credit) {
    SendRing ring = new SendRing(this, rings.size(), shape, credit);
    rings.add(ring);
    return ring;
  }

  /** Messages of peers' rings are counted from {@code first}; to be said before the first comes. */
  public void expectFrom(long first) {
    firstMessage = first;
  }

  /**
   * Writes how many messages of a peer's ring have come to {@code address}, after each message: who
   * sees the count sees the messages.
   */
  public void flag(int source, int ring, long address) {
    receiver.flag(source, ring, address);
  }

  /** Describes what the rings wait for, for reports. */
  public String state() {
    StringBuilder text = new StringBuilder("push engine ").append(number);
    for (SendRing ring : rings) {
      text.append(", ").append(ring.state());
    }
    return text.toString();
  }

  AddressSpace memory() {
    return fabric.memory();
  }

  /** Native address of a buffer of at least {@code bytes}. */
  long receiveBuffer(int bytes) {
    if (bytes > received.byteSize()) {
      received = arena.allocate(bytes, SCRATCH_BYTES);
    }
    return received.address();
  }

  /** It may have something to do, though nothing arrived at its port. */
  void wake() {
    fabric.wake(agent);
  }

  private int pump() {
    int work = 0;
    for (int i = 0; i < rings.size(); i++) {
      work += rings.get(i).pump();
    }
    return work + transmit();
  }

  private int transmit() {
    if (leaving != null || paused) {
      return 0;
    }
    for (int i = 0; i < rings.size(); i++) {
      SendRing ring = rings.get(turn++ % rings.size());
      Message message = ring.candidate();
      if (message != null) {
        start(ring, message);
        return 1;
      }
    }
    return 0;
  }

  private void start(SendRing ring, Message message) {
    leavingAgain = !ring.isNew(message);
    ring.starts(message);
    leaving = message;
    leavingFrom = ring;
    // The bytes are taken now: what happens to the slot while they leave is not seen.
    PushFrame frame = PushFrame.data(number, ring.number(), message);
    leavingFrame = frame;
    if (port.delay(serviceNanos(frame.bytes()), departure)) {
      departed();
    }
  }

  private long serviceNanos(int bytes) {
    PushOptions.Service service = options.service();
    long now = Math.round(port.now() * PICOS_PER_NANO);
    double overhead = 0;
    if (service.exponentialSeed() != 0) {
      overhead = -Math.log(1 - random.nextDouble()) * service.overheadNanos();
    } else if (freePicos <= now) {
      overhead = service.overheadNanos();
    }
    freePicos =
        Math.max(freePicos, now)
            + Math.round((overhead + bytes / service.bytesPerNano()) * PICOS_PER_NANO);
    return Math.max(1, Math.round((freePicos - now) / PICOS_PER_NANO));
  }

  private void departed() {
    Message message = leaving;
    SendRing ring = leavingFrom;
    PushFrame frame = leavingFrame;
    if (message == null || ring == null || frame == null) {
      throw new IllegalStateException("nothing was leaving");
    }
    leaving = null;
    ring.hasSent(message, leavingAgain);
    network.send(frame);
  }

  private void receive(PushFrame frame) {
    switch (frame.kind) {
      case DATA -> receiver.data(frame);
      case REQUEST -> receiver.request(frame);
      default -> rings.get(frame.ring).control(frame);
    }
    fabric.wake(agent);
  }

  /** Sends a control frame of a sender; they take no time of the link. */
  void control(PushFrame.Kind kind, int destination, int ring, int sequence, int limit) {
    network.send(PushFrame.control(kind, number, destination, ring, sequence, false, limit));
  }

  /** Sends a control frame of a receiver. */
  void reply(
      PushFrame.Kind kind, int destination, int ring, int sequence, boolean marked, int limit) {
    network.send(
        PushFrame.control(
            kind,
            number,
            destination,
            ring,
            sequence & SendFlow.SEQUENCE_MASK,
            marked,
            limit & SendFlow.SEQUENCE_MASK));
  }

  /** Frees rings; nothing may use them any more. */
  @Override
  public void close() {
    fabric.detach(agent);
    rings.forEach(SendRing::close);
    rings.clear();
    arena.close();
  }
}
