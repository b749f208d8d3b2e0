package dev.doorbell.softhca;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.core.trace.TraceEvent;
import dev.doorbell.softhca.packet.Packet;
import java.util.Locale;

/** Tells a trace what happens to WQEs. Only called when somebody listens. */
final class HcaTracer {
  private static final int ENTRY = 64;

  private final Trace trace;
  private final DevicePort port;
  private final Locus locus;

  HcaTracer(Trace trace, DevicePort port, Locus locus) {
    this.trace = trace;
    this.port = port;
    this.locus = locus;
  }

  void fetched(int qpn, SendRequest request) {
    record(
        TraceEvent.Kind.WQE_FETCHED,
        qpn,
        request.index & 0xffff,
        request.blocks * 64L,
        "%s of %d units at hand".formatted(Opcode.name(request.opcode), request.ds));
  }

  void gathered(int qpn, SendRequest request) {
    record(
        TraceEvent.Kind.PAYLOAD_GATHERED,
        qpn,
        request.index & 0xffff,
        request.length,
        "payload at hand");
  }

  void emitted(int qpn, SendRequest request) {
    record(
        TraceEvent.Kind.EMITTED,
        qpn,
        request.index & 0xffff,
        request.length,
        "%s: last of %d packets left"
            .formatted(Opcode.name(request.opcode), Math.max(1, request.packets)));
  }

  /** Writes the last bytes of a message and records when they are visible. */
  void payload(Packet packet, long address, int bytes, boolean relaxed) {
    payload(packet, packet.payload, address, bytes, relaxed);
  }

  /** As {@link #payload(Packet, long, int, boolean)}, from {@code source}. */
  void payload(Packet packet, long source, long address, int bytes, boolean relaxed) {
    int qpn = packet.originQpn;
    int index = packet.originIndex;
    if (port.writeThen(source, address, bytes, relaxed, ok -> visible(qpn, index, bytes))) {
      visible(qpn, index, bytes);
    }
  }

  private void visible(int qpn, int index, int bytes) {
    record(
        TraceEvent.Kind.PAYLOAD_VISIBLE,
        qpn,
        index,
        bytes,
        "last payload of queue pair 0x%x is visible".formatted(qpn));
  }

  /** Writes a CQE and records when it is visible. */
  void completion(long source, long entry, int qpn, int index) {
    if (port.writeThen(source, entry, ENTRY, false, ok -> completed(qpn, index, entry))) {
      completed(qpn, index, entry);
    }
  }

  private void completed(int qpn, int index, long entry) {
    record(
        TraceEvent.Kind.CQE, qpn, index, ENTRY, String.format(Locale.ROOT, "CQE at 0x%x", entry));
  }

  private void record(TraceEvent.Kind kind, int qpn, long index, long bytes, String text) {
    trace.record(new TraceEvent(port.now(), locus, kind, qpn, index, bytes, text));
  }
}
