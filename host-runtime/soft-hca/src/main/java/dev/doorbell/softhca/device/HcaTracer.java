package dev.doorbell.softhca.device;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.core.trace.TraceEvent;
import java.util.Locale;

/** Records in a trace what happens to WQEs. */
public final class HcaTracer {
  private static final int ENTRY = 64;

  private final Trace trace;
  private final DevicePort port;
  private final Locus locus;

  public HcaTracer(Trace trace, DevicePort port, Locus locus) {
    this.trace = trace;
    this.port = port;
    this.locus = locus;
  }

  /** A WQE of {@code units} 16-byte units in {@code blocks} blocks is at hand. */
  public void fetched(int qpn, long index, int opcode, int units, int blocks) {
    record(
        TraceEvent.Kind.WQE_FETCHED,
        qpn,
        index & 0xffff,
        blocks * 64L,
        "%s of %d units at hand".formatted(Opcode.name(opcode), units));
  }

  /** The payload of a WQE was read. */
  public void gathered(int qpn, long index, long bytes) {
    record(TraceEvent.Kind.PAYLOAD_GATHERED, qpn, index & 0xffff, bytes, "payload at hand");
  }

  /** The last packet of a WQE has left. */
  public void emitted(int qpn, long index, int opcode, long bytes, int packets) {
    record(
        TraceEvent.Kind.EMITTED,
        qpn,
        index & 0xffff,
        bytes,
        "%s: last of %d packets left".formatted(Opcode.name(opcode), Math.max(1, packets)));
  }

  /**
   * Writes the last bytes of a message from {@code source} and records when they are visible.
   *
   * @param qpn queue pair of the sender
   * @param index of the sender's WQE
   */
  public void payload(int qpn, int index, long source, long address, int bytes, boolean relaxed) {
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
  public void completion(long source, long entry, int qpn, int index) {
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
