package dev.doorbell.push;

import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The receiving side of an engine: takes messages of each ring in order, writes them to memory,
 * then their flag, and acknowledges. An acknowledgement says that the engine has the bytes, not
 * that memory has them; the flag does.
 */
final class PushReceiver {
  private final PushEngine engine;
  private final List<ReceiveFlow> flows = new ArrayList<>();
  private final Map<Integer, Long> flags = new HashMap<>();
  private int turn;

  PushReceiver(PushEngine engine) {
    this.engine = engine;
  }

  private static int key(int source, int ring) {
    return source << Short.SIZE | ring;
  }

  /** From now on the count of messages of that ring is written to {@code address}. */
  void flag(int source, int ring, long address) {
    flags.put(key(source, ring), address);
  }

  void data(PushFrame frame) {
    flow(frame.source(), frame.ring).data(frame);
  }

  void request(PushFrame frame) {
    flow(frame.source(), frame.ring).request(frame.sequence, frame.limit);
  }

  private ReceiveFlow flow(int source, int ring) {
    for (ReceiveFlow flow : flows) {
      if (flow.source == source && flow.ring == ring) {
        return flow;
      }
    }
    ReceiveFlow made = new ReceiveFlow(source, ring, engine.firstMessage);
    flows.add(made);
    return made;
  }

  private void store(ReceiveFlow flow, PushFrame frame) {
    int bytes = frame.payload.length;
    long buffer = engine.receiveBuffer(bytes);
    RawMemory.copyIn(MemorySegment.ofArray(frame.payload), 0, buffer, bytes);
    boolean intact = !frame.checked || Message.sum(buffer, bytes) == frame.checksum;
    event(intact ? PushEvent.Kind.DELIVERED : PushEvent.Kind.CORRUPT, flow, frame.index);
    engine.port.write(buffer, frame.remote, bytes, false);
    Long flag = flags.get(key(flow.source, flow.ring));
    if (flag != null) {
      RawMemory.putLong(engine.scratch, flow.expected());
      engine.port.write(engine.scratch, flag, Long.BYTES, false);
    }
  }

  /** Grants in turn, as long as no more is under way than allowed. */
  void grant() {
    long left = engine.options.grantBytes();
    if (left == 0) {
      return;
    }
    for (ReceiveFlow flow : flows) {
      left -= flow.outstanding();
    }
    int idle = 0;
    while (idle < flows.size() && left > 0) {
      ReceiveFlow flow = flows.get(turn++ % flows.size());
      long before = flow.outstanding();
      idle = flow.grant(left) ? 0 : idle + 1;
      left -= flow.outstanding() - before;
    }
  }

  private void event(PushEvent.Kind kind, ReceiveFlow flow, long index) {
    engine.observer.happened(
        new PushEvent(
            engine.port.now(), kind, flow.source, flow.ring, index, 0, 0, flow.expected(), 0));
  }

  /** Messages of one peer's ring to this engine: which is next. */
  private final class ReceiveFlow {
    final int source;
    final int ring;
    private long expected;
    private boolean gapSaid;

    /** Messages that the sender has to send, and may send: counts as {@link #expected}. */
    private long wanted;

    private long granted;
    private int grantedBytes = 1;

    ReceiveFlow(int source, int ring, long first) {
      this.source = source;
      this.ring = ring;
      this.expected = first;
      this.wanted = first;
      this.granted = first;
    }

    /** Messages that arrived in order. */
    long expected() {
      return expected;
    }

    void data(PushFrame frame) {
      long count = SendFlow.widen(frame.sequence, expected);
      if (count < expected) {
        event(PushEvent.Kind.DUPLICATE, this, frame.index);
        acknowledge(frame.congested());
      } else if (count > expected) {
        event(PushEvent.Kind.OUT_OF_ORDER, this, frame.index);
        if (!gapSaid) {
          gapSaid = true;
          say(PushFrame.Kind.NAK, false);
        }
      } else {
        take(frame);
      }
    }

    private void take(PushFrame frame) {
      gapSaid = false;
      expected++;
      store(this, frame);
      acknowledge(frame.congested());
      if (expected > granted) {
        granted = expected;
      }
      PushReceiver.this.grant();
    }

    private void acknowledge(boolean marked) {
      say(PushFrame.Kind.ACK, marked);
    }

    private void say(PushFrame.Kind kind, boolean marked) {
      engine.reply(kind, source, ring, (int) expected, marked, 0);
    }

    void request(int bytes, int limit) {
      grantedBytes = Math.max(1, bytes);
      wanted = Math.max(wanted, SendFlow.widen(limit, wanted));
      // What was granted and not used may have been lost on the way.
      if (granted > expected) {
        engine.reply(PushFrame.Kind.GRANT, source, ring, 0, false, (int) granted);
      }
      PushReceiver.this.grant();
    }

    /** Bytes that may be on their way. */
    long outstanding() {
      return (granted - expected) * grantedBytes;
    }

    /** Grants a message more. */
    boolean grant(long bytes) {
      if (granted >= wanted || grantedBytes > bytes) {
        return false;
      }
      granted++;
      engine.reply(PushFrame.Kind.GRANT, source, ring, 0, false, (int) granted);
      return true;
    }
  }
}
