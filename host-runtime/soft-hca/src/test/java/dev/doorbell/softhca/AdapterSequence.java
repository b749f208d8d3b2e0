package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.efa.CompletionEntry;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.roce.BthOpcode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** A few random requests on one connection, and what of an adapter's behaviour they show. */
final class AdapterSequence {
  /** What an HCA may do, or may not. */
  enum Behaviour {
    PACKET_OVERTAKES_PACKET_OF_ITS_MESSAGE,
    WRITE_OVERTAKES_WRITE,
    STRICT_WRITE_OVERTAKES_WRITE,
    FENCED_WRITE_OVERTAKES_WRITE,
    ATOMIC_OVERTAKES_WRITE,
    WRITE_OVERTAKES_ATOMIC,
    OLDER_VALUE_REMAINS,
    READ_MISSES_WRITE,
    COMPLETION_BEFORE_PLACEMENT,
    COMPLETION_OUT_OF_ORDER,
    ATOMIC_SENT_BEFORE_ACKNOWLEDGEMENT,
    ATOMIC_REFUSED,
    IMMEDIATE_OVERTAKES_WRITE,
    IMMEDIATE_OVERTAKES_IMMEDIATE,
    WRITE_RELAXED,
    STRICT_WRITE_RELAXED;

    /** The behaviours that promises leave open. */
    static Set<Behaviour> allowedBy(Promises promises) {
      Set<Behaviour> allowed = EnumSet.noneOf(Behaviour.class);
      boolean strict = promises.strictKey() == Promise.StrictKey.AFTER_EARLIER_WRITES;
      if (promises.placement() == Promise.Placement.ANY_ORDER) {
        allowed.add(PACKET_OVERTAKES_PACKET_OF_ITS_MESSAGE);
        allowed.add(WRITE_OVERTAKES_WRITE);
        allowed.add(OLDER_VALUE_REMAINS);
        if (!strict) {
          allowed.add(STRICT_WRITE_OVERTAKES_WRITE);
        }
      }
      if (promises.atomics() == Promise.Atomics.REFUSED) {
        allowed.add(ATOMIC_REFUSED);
      }
      boolean onTheWire =
          promises.atomics() != Promise.Atomics.REFUSED || promises.queues() == Promise.Queues.MLX5;
      if (onTheWire && promises.atomics() != Promise.Atomics.AFTER_ACKNOWLEDGEMENT) {
        allowed.add(ATOMIC_SENT_BEFORE_ACKNOWLEDGEMENT);
      }
      if (promises.fenceBit() == Promise.FenceBit.NONE
          && promises.placement() == Promise.Placement.ANY_ORDER) {
        allowed.add(FENCED_WRITE_OVERTAKES_WRITE);
      }
      if (promises.messages() == Promise.Messages.ANY_ORDER) {
        allowed.add(READ_MISSES_WRITE);
        allowed.add(COMPLETION_OUT_OF_ORDER);
        allowed.add(IMMEDIATE_OVERTAKES_WRITE);
        allowed.add(IMMEDIATE_OVERTAKES_IMMEDIATE);
      }
      if (promises.posted() == Promise.Posted.RELAXED) {
        allowed.add(WRITE_RELAXED);
        if (!strict) {
          allowed.add(STRICT_WRITE_RELAXED);
        }
      }
      return allowed;
    }
  }

  private enum Kind {
    WRITE,
    STRICT,
    FENCED,
    ATOMIC,
    READ,
    IMMEDIATE
  }

  private static final int SLOT = 1024;
  private static final int MOST = 6;
  private static final long RESULTS = 1L << 16;

  /** What a sequence uses of a buffer, from its beginning and from the results on. */
  private static final long USED = (MOST + 1L) * SLOT;

  /** Of an endpoint, below what gets huge pages. */
  private static final long BUFFER = 2 * RESULTS;

  private final SteppedWorld world;
  private final ProtectionDomain[] domains;
  private final boolean ordered;
  private final Promise.Queues queues;
  private final Random random;
  private final long seed;
  private final List<Request> requests = new ArrayList<>();
  private final List<Event> events = new ArrayList<>();
  private final Set<Behaviour> shown = EnumSet.noneOf(Behaviour.class);

  /** How many events there were at each completion of a request, and of a receive. */
  private final List<Integer> completions = new ArrayList<>();

  private final List<Integer> receipts = new ArrayList<>();

  /** A request; {@code twin} writes to the slot of the one before it. */
  private record Request(int number, Kind kind, int slot, int bytes, boolean twin) {
    boolean isWrite() {
      return kind == Kind.WRITE
          || kind == Kind.STRICT
          || kind == Kind.FENCED
          || kind == Kind.IMMEDIATE;
    }
  }

  /** A packet of a request was placed, or an atomic executed. */
  private record Event(int request, long offset) {}

  AdapterSequence(SteppedWorld world, ProtectionDomain[] domains, Promises promises, long seed) {
    this.ordered = promises.messages() == Promise.Messages.IN_ORDER;
    this.queues = promises.queues();
    this.world = world;
    this.domains = domains;
    this.seed = seed;
    this.random = new Random(seed);
  }

  /** Runs it. */
  Set<Behaviour> show() {
    Endpoint.Shape shape =
        Endpoint.Shape.usual()
            .withBufferBytes(BUFFER)
            .withCompletions(CompletionQueueAttributes.ring(16, MemoryKind.HOST));
    Set<AccessRight> rights = EnumSet.copyOf(Endpoint.ALL);
    rights.add(AccessRight.STRICT_ORDERING);
    try (Endpoint a = new Endpoint(world, 0, shape, domains[0]);
        Endpoint b = new Endpoint(world, 1, shape, domains[1]);
        MemoryRegion strict = domains[1].register(b.buffer, rights)) {
      Endpoint.connect(a, b, new ConnectionAttributes(14, 7, 7, 12, 16, 16, 0));
      for (Endpoint end : List.of(a, b)) {
        end.buffer.fill(0, USED, (byte) 0);
        end.buffer.fill(RESULTS, USED, (byte) 0);
      }
      world.wire.plan(seed, 0, 0);
      draw();
      requests.stream()
          .filter(request -> request.kind == Kind.IMMEDIATE)
          .forEach(request -> b.postReceive(RESULTS, Long.BYTES));
      world.fabric.writes = (address, bytes, relaxed) -> written(a, b, address, relaxed);
      requests.forEach(request -> write(request, a, b, strict));
      a.record();
      a.ring();
      world.settle();
      world.fabric.writes = null;
      boolean refused = completions(a);
      if (!refused) {
        receipts(b);
        contents(a, b);
      }
      order();
      atomicsOnTheWire();
    } finally {
      world.fabric.writes = null;
    }
    return shown;
  }

  private void draw() {
    int count = 2 + random.nextInt(MOST - 1);
    for (int i = 0; i < count; i++) {
      Kind kind = kind();
      int bytes = 8 * (1 + random.nextInt(SLOT / 8));
      Request before = i == 0 ? null : requests.getLast();
      if (before != null
          && before.kind == Kind.WRITE
          && kind == Kind.WRITE
          && !before.twin
          && random.nextBoolean()) {
        requests.add(new Request(i, kind, before.slot, before.bytes, true));
      } else if (kind == Kind.READ && before != null && before.isWrite()) {
        requests.add(new Request(i, kind, before.slot, before.bytes, false));
      } else {
        requests.add(new Request(i, kind, i, kind == Kind.ATOMIC ? Long.BYTES : bytes, false));
      }
    }
  }

  private Kind kind() {
    return Kind.values()[random.nextInt(Kind.values().length)];
  }

  private void write(Request request, Endpoint a, Endpoint b, MemoryRegion strict) {
    long local = (long) request.number * SLOT;
    long remote = b.address((long) request.slot * SLOT);
    if (request.isWrite()) {
      byte[] payload = new byte[request.bytes];
      Arrays.fill(payload, (byte) (request.number + 1));
      a.buffer.putBytes(local, payload);
    }
    int key = request.kind == Kind.STRICT ? strict.rkey() : b.region.rkey();
    switch (request.kind) {
      case ATOMIC ->
          a.wqe(Opcode.ATOMIC_FA)
              .remote(remote, key)
              .atomic(1, 0)
              .local(RESULTS, Long.BYTES)
              .write();
      case READ ->
          a.wqe(Opcode.RDMA_READ)
              .remote(remote, key)
              .local(RESULTS + local + SLOT, request.bytes)
              .write();
      case IMMEDIATE ->
          a.wqe(Opcode.RDMA_WRITE_IMM)
              .immediate(request.number)
              .remote(remote, key)
              .local(local, request.bytes)
              .write();
      default ->
          a.wqe(Opcode.RDMA_WRITE)
              .remote(remote, key)
              .local(local, request.bytes)
              .flags(
                  ControlSegment.CQ_UPDATE
                      | (request.kind == Kind.FENCED ? ControlSegment.FENCE_STRONG_ORDERING : 0))
              .write();
    }
  }

  private void written(Endpoint a, Endpoint b, long address, boolean relaxed) {
    if (isEntry(a.sendQueue, address)) {
      completions.add(events.size());
      return;
    }
    if (isEntry(b.receiveQueue, address)) {
      receipts.add(events.size());
      return;
    }
    long offset = address - b.buffer.address();
    if (offset < 0 || offset >= RESULTS) {
      return;
    }
    for (Request request : requests) {
      boolean here =
          request.kind != Kind.READ
              && offset >= (long) request.slot * SLOT
              && offset < (long) request.slot * SLOT + request.bytes;
      if (here && !isWhole(request)) {
        events.add(new Event(request.number, offset));
        if (relaxed) {
          shown.add(
              request.kind == Kind.STRICT
                  ? Behaviour.STRICT_WRITE_RELAXED
                  : Behaviour.WRITE_RELAXED);
        }
        return;
      }
    }
  }

  /**
   * Of two requests to one slot the packets of both are counted for the first until it is whole.
   */
  private boolean isWhole(Request request) {
    return placed(request) >= packets(request);
  }

  private static int packets(Request request) {
    return (request.bytes + AdapterPropertyTest.MTU - 1) / AdapterPropertyTest.MTU;
  }

  private long placed(Request request) {
    return events.stream().filter(event -> event.request == request.number).count();
  }

  /** True for the first byte of an entry, which is written once. */
  private boolean isEntry(CompletionQueue queue, long address) {
    long offset = address - queue.ringAddress();
    int bytes = queues == Promise.Queues.EFA ? CompletionEntry.BYTES : Cqe.BYTES;
    return offset >= 0
        && offset < (long) queue.attributes().entries() * bytes
        && offset % bytes == 0;
  }

  /** Takes the CQEs; true when an atomic was refused. */
  private boolean completions(Endpoint a) {
    List<Integer> numbers = new ArrayList<>();
    for (Request request : requests) {
      Endpoint.Completion completion = a.pollSend();
      numbers.add(completion.counter());
      if (completion.isError()) {
        boolean flushed = completion.syndrome() == Syndrome.FLUSHED;
        if (!flushed) {
          assertThat(requests.get(completion.counter()).kind)
              .as("seed %d", seed)
              .isEqualTo(Kind.ATOMIC);
          assertThat(completion.syndrome())
              .isEqualTo(
                  queues == Promise.Queues.EFA
                      ? Syndrome.LOCAL_QP_OPERATION
                      : Syndrome.REMOTE_OPERATION);
        }
        assertThat(ordered && flushed).as("seed %d", seed).isFalse();
        shown.add(Behaviour.ATOMIC_REFUSED);
        return true;
      }
      if (completion.counter() != request.number) {
        shown.add(Behaviour.COMPLETION_OUT_OF_ORDER);
      }
    }
    for (int i = 0; i < numbers.size(); i++) {
      for (Request request : requests) {
        boolean due = ordered ? request.number <= numbers.get(i) : request.number == numbers.get(i);
        if (due && request.kind != Kind.READ && !isWhole(request, completions.get(i))) {
          shown.add(Behaviour.COMPLETION_BEFORE_PLACEMENT);
        }
      }
    }
    return false;
  }

  /** Takes the CQEs of receives. */
  private void receipts(Endpoint b) {
    int newest = -1;
    for (int i = 0; i < receipts.size(); i++) {
      int number = b.pollReceive().immediate();
      if (number < newest) {
        shown.add(Behaviour.IMMEDIATE_OVERTAKES_IMMEDIATE);
      }
      newest = Math.max(newest, number);
      for (Request request : requests.subList(0, number + 1)) {
        if (request.kind == Kind.READ || isWhole(request, receipts.get(i))) {
          continue;
        }
        shown.add(
            request.number == number
                ? Behaviour.COMPLETION_BEFORE_PLACEMENT
                : Behaviour.IMMEDIATE_OVERTAKES_WRITE);
      }
    }
  }

  /** True when a request was whole after so many events, or nobody knows. */
  private boolean isWhole(Request request, int after) {
    boolean shared = isShared(new Event(request.number, 0));
    long placed =
        events.subList(0, after).stream().filter(event -> event.request == request.number).count();
    return (shared && !ordered) || placed >= packets(request);
  }

  private void contents(Endpoint a, Endpoint b) {
    for (Request request : requests) {
      byte[] remote = b.buffer.getBytes((long) request.slot * SLOT, request.bytes);
      switch (request.kind) {
        case ATOMIC ->
            assertThat(RawMemory.getLong(b.address((long) request.slot * SLOT))).isEqualTo(1);
        case READ -> {
          byte[] read =
              a.buffer.getBytes(RESULTS + (long) request.number * SLOT + SLOT, request.bytes);
          if (!Arrays.equals(read, remote)) {
            shown.add(Behaviour.READ_MISSES_WRITE);
          }
        }
        default -> value(request, remote);
      }
    }
  }

  private void value(Request request, byte[] remote) {
    boolean overwritten =
        request.number + 1 < requests.size() && requests.get(request.number + 1).twin;
    for (byte one : remote) {
      if (one == request.number + 1) {
        continue;
      }
      boolean older = request.twin && one == request.number;
      assertThat(older || (overwritten && one == request.number + 2))
          .as("seed %d: byte %d in the slot of request %d", seed, one, request.number)
          .isTrue();
      if (older) {
        shown.add(Behaviour.OLDER_VALUE_REMAINS);
      }
    }
  }

  private void order() {
    for (int later = 1; later < events.size(); later++) {
      for (int sooner = 0; sooner < later; sooner++) {
        Event first = events.get(sooner);
        Event second = events.get(later);
        if (first.request == second.request && first.offset > second.offset && !isShared(first)) {
          shown.add(Behaviour.PACKET_OVERTAKES_PACKET_OF_ITS_MESSAGE);
        } else if (first.request > second.request && !isShared(first) && !isShared(second)) {
          overtakes(requests.get(first.request), requests.get(second.request));
        }
      }
    }
  }

  /** True for packets of which nobody knows which of two requests they are of. */
  private boolean isShared(Event event) {
    Request request = requests.get(event.request);
    return request.twin
        || (request.number + 1 < requests.size() && requests.get(request.number + 1).twin);
  }

  private void overtakes(Request overtaker, Request overtaken) {
    if (overtaken.kind == Kind.ATOMIC) {
      shown.add(Behaviour.WRITE_OVERTAKES_ATOMIC);
      return;
    }
    shown.add(
        switch (overtaker.kind) {
          case STRICT -> Behaviour.STRICT_WRITE_OVERTAKES_WRITE;
          case FENCED -> Behaviour.FENCED_WRITE_OVERTAKES_WRITE;
          case ATOMIC -> Behaviour.ATOMIC_OVERTAKES_WRITE;
          case IMMEDIATE -> Behaviour.WRITE_OVERTAKES_WRITE;
          default -> Behaviour.WRITE_OVERTAKES_WRITE;
        });
  }

  /** An atomic right behind a write has left before any acknowledgement. */
  private void atomicsOnTheWire() {
    int atomic = world.wire.opcodes.indexOf(BthOpcode.FETCH_ADD);
    if (atomic > 0
        && requests.getFirst().isWrite()
        && world.wire.opcodes.subList(0, atomic).stream().noneMatch(BthOpcode::isResponse)) {
      shown.add(Behaviour.ATOMIC_SENT_BEFORE_ACKNOWLEDGEMENT);
    }
  }
}
