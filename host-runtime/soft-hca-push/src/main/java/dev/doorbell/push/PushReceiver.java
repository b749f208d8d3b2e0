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
    ReceiveFlow made = new ReceiveFlow(this, engine, source, ring, engine.firstMessage);
    flows.add(made);
    return made;
  }

  void store(ReceiveFlow flow, PushFrame frame) {
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
    long left = engine.options.receiving().grantBytes();
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

  void event(PushEvent.Kind kind, ReceiveFlow flow, long index) {
    engine.observer.happened(
        new PushEvent(
            engine.port.now(), kind, flow.source, flow.ring, index, 0, 0, flow.expected(), 0));
  }
}
