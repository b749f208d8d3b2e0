package dev.doorbell.experiments.pasted;

import dev.doorbell.core.pcap.Capture;
import dev.doorbell.core.pcap.CaptureException;
import dev.doorbell.core.pcap.CaptureReader;
import dev.doorbell.core.pcap.CapturedFrame;
import dev.doorbell.core.pcap.Direction;
import dev.doorbell.core.pcap.LinkType;
import dev.doorbell.core.print.Scratch;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.core.roce.FlowChecker;
import dev.doorbell.core.roce.LinkHeader;
import dev.doorbell.core.roce.PacketPrinter;
import dev.doorbell.core.roce.RoceFrame;
import dev.doorbell.core.roce.generated.Bth;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** What there is to say of the frames of a capture. */
public final class PacketReport {
  private final FlowChecker checker = new FlowChecker();
  private final RoceFrame frame;
  private final List<Line> lines = new ArrayList<>();
  private long firstNanos;
  private int broken;
  private int others;
  private int cut;
  private final Set<String> unread = new TreeSet<>();

  /**
   * One frame.
   *
   * @param number from 1
   * @param seconds since the first frame
   * @param ends from whom to whom, or empty
   * @param text one line
   * @param problems what is wrong with it
   * @param notes what is worth knowing
   * @param detail every bit field, or empty where it is no packet
   */
  public record Line(
      int number,
      double seconds,
      String ends,
      String text,
      List<String> problems,
      List<String> notes,
      String detail) {}

  /**
   * Looks at a capture.
   *
   * @param port the UDP port of RoCE in it
   */
  PacketReport(Capture capture, int port) {
    frame = new RoceFrame(port);
    List<CapturedFrame> frames = capture.frames();
    firstNanos = frames.isEmpty() ? 0 : frames.getFirst().nanos();
    for (CapturedFrame captured : frames) {
      byte[] padded =
          Arrays.copyOf(
              captured.bytes(),
              Math.max(
                  captured.bytes().length,
                  Math.min(captured.originalBytes(), RoceFrame.MAX_BYTES)));
      lines.add(Scratch.with(padded, address -> look(captured, address, padded.length)));
    }
  }

  /**
   * Looks at a capture, or at the bytes of one packet: from the IP header where they start as one
   * does, else from Ethernet's.
   *
   * @throws CaptureException when a capture is damaged
   */
  public static PacketReport of(byte[] bytes, int port) throws CaptureException {
    if (CaptureReader.isCapture(bytes)) {
      return new PacketReport(CaptureReader.read(bytes), port);
    }
    boolean ip = bytes[0] == 0x45 || (bytes[0] & 0xff) >> 4 == 6;
    CapturedFrame frame =
        new CapturedFrame(
            1, 0, ip ? LinkType.RAW_IP : LinkType.ETHERNET, Direction.UNKNOWN, bytes, bytes.length);
    return new PacketReport(new Capture("", "", List.of(frame)), port);
  }

  private Line look(CapturedFrame captured, long address, int bytes) {
    double seconds = (captured.nanos() - firstNanos) / 1e9;
    RoceFrame.Verdict verdict = frame.parse(captured.linkType(), address, bytes);
    boolean whole = !captured.isCut();
    if (verdict == RoceFrame.Verdict.OTHER) {
      others++;
      if (!LinkHeader.isRead(captured.linkType())) {
        unread.add(LinkHeader.name(captured.linkType()));
      }
      String text =
          LinkHeader.isRead(captured.linkType())
              ? "not RoCE, %d bytes".formatted(captured.originalBytes())
              : "%s, which is not read, %d bytes"
                  .formatted(LinkHeader.name(captured.linkType()), captured.originalBytes());
      return plain(captured, seconds, text, List.of());
    }
    if (verdict != RoceFrame.Verdict.ROCE
        || (!whole && frame.payload - address > captured.bytes().length)) {
      broken += whole ? 1 : 0;
      cut += whole ? 0 : 1;
      return plain(
          captured,
          seconds,
          whole
              ? "RoCE, %d bytes".formatted(bytes)
              : "RoCE%s, cut inside its headers: %d of %d bytes"
                  .formatted(
                      transport(captured.bytes().length - (frame.bth - address)),
                      captured.bytes().length,
                      captured.originalBytes()),
          whole ? List.of(verdict.text()) : List.of());
    }
    cut += whole ? 0 : 1;
    FlowChecker.Findings findings = checker.check(frame, whole);
    return new Line(
        captured.number(),
        seconds,
        "%s > %s".formatted(frame.source(), frame.destination()),
        PacketPrinter.line(frame)
            + (whole
                ? ""
                : "  [cut: %d of %d bytes; the ICRC is not there]"
                    .formatted(captured.bytes().length, captured.originalBytes())),
        List.copyOf(findings.problems()),
        List.copyOf(findings.notes()),
        whole ? PacketPrinter.full(frame, checker.expectedIcrc(frame)) : "");
  }

  /** Returns what a base transport header says, where {@code left} bytes from it are there. */
  private String transport(long left) {
    return frame.bth == 0 || left < Bth.BYTES
        ? ""
        : " %s qp=0x%06x psn=0x%06x"
            .formatted(
                BthOpcode.name(frame.opcode), Bth.destination(frame.bth), Bth.psn(frame.bth));
  }

  private static Line plain(
      CapturedFrame captured, double seconds, String text, List<String> problems) {
    return new Line(captured.number(), seconds, "", text, problems, List.of(), "");
  }

  /** True when a packet was read and none breaks a rule. */
  public boolean isSound() {
    return isDecoded() && broken == 0 && checker.problems() == 0;
  }

  public boolean isDecoded() {
    return checker.packets() + broken > 0;
  }

  private String verdict() {
    if (!unread.isEmpty()) {
      return "frames of %s are not read".formatted(String.join(", ", unread));
    }
    if (!isDecoded()) {
      return cut > 0
          ? "%d packets end inside their headers: capture more of each (tcpdump -s 0)"
              .formatted(cut)
          : "nothing was decoded: no frame is RoCE on this port (--port), so nothing is known";
    }
    String words =
        isSound() ? "nothing wrong" : "%d problems".formatted(broken + checker.problems());
    return cut == 0 ? words : "%s, %d packets cut".formatted(words, cut);
  }

  /** One line a frame, and what is wrong below it; the last line sums up. */
  public String text(boolean verbose) {
    StringBuilder text = new StringBuilder();
    for (Line line : lines) {
      text.append(
          "%5d %11s  %s%s%s%n"
              .formatted(
                  line.number,
                  String.format(Locale.ROOT, "%.6f", line.seconds),
                  line.ends.isEmpty() ? "" : line.ends + "  ",
                  line.text,
                  line.notes.isEmpty() ? "" : "  (" + String.join("; ", line.notes) + ")"));
      line.problems.forEach(problem -> text.append("%19s%s%n".formatted("WRONG  ", problem)));
      if (verbose && !line.detail.isEmpty()) {
        line.detail.lines().skip(1).forEach(row -> text.append("      ").append(row).append('\n'));
      }
    }
    text.append(
        "%d packets of %d connections, %d other frames: %s%n"
            .formatted(checker.packets() + broken, checker.flows(), others, verdict()));
    return text.toString();
  }

  /** The same for programs. */
  public Map<String, Object> json() {
    return Map.of(
        "packets",
        checker.packets() + broken,
        "connections",
        checker.flows(),
        "other_frames",
        others,
        "problems",
        broken + checker.problems(),
        "frames",
        lines);
  }
}
