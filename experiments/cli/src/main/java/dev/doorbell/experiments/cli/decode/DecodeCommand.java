package dev.doorbell.experiments.cli.decode;

import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.CqePrinter;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellPrinter;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.WqePrinter;
import dev.doorbell.core.pcap.Capture;
import dev.doorbell.core.pcap.CaptureException;
import dev.doorbell.core.pcap.CaptureReader;
import dev.doorbell.core.pcap.CapturedFrame;
import dev.doorbell.core.pcap.Direction;
import dev.doorbell.core.pcap.LinkType;
import dev.doorbell.core.print.Scratch;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code doorbell decode FORMAT FILE}. */
@CommandLine.Command(
    header = {
      "Explains WQEs, CQEs, doorbells and packets bit by bit.",
      "",
      "  doorbell decode packet capture.pcapng",
      "  doorbell decode wqe ring.bin",
      "  echo '00000000 00010001 00000008 00000000' | doorbell decode wqe -   a NOP",
      "",
      "Bytes come as binary, as hexadecimal digits, or as a pcapng or pcap capture. Of a capture"
          + " every",
      "packet is checked: ICRC, sequence numbers, the rules of reliable connections. Exits with 1"
          + " when",
      "something is wrong.",
      ""
    })
public final class DecodeCommand extends CliCommand {
  /** What it can decode. */
  public static final List<String> FORMATS = List.of("wqe", "cqe", "dbr", "uar", "packet");

  private static final int IP_VERSION_SHIFT = 4;

  @Parameters(
      index = "0",
      paramLabel = "FORMAT",
      description = "wqe, cqe, dbr (doorbell record), uar (doorbell register), packet.")
  private String format = "";

  @Parameters(
      index = "1",
      paramLabel = "FILE",
      defaultValue = "-",
      description = "A file, or - for standard input.")
  private String file = "-";

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "4791",
      description = "UDP port of RoCE in a capture; 0 means any.")
  private int port = PacketReport.usualPort();

  private final InputStream standardInput;

  /** One that reads this process's standard input where no file is named. */
  public DecodeCommand() {
    this(System.in);
  }

  DecodeCommand(InputStream standardInput) {
    this.standardInput = standardInput;
  }

  /** One that decodes standard input. */
  DecodeCommand(InputStream standardInput, String format) {
    this(standardInput);
    this.format = format;
  }

  /** What was decoded of one entry, in one line and whole. */
  record Entry(int offset, String text, String detail, boolean malformed) {}

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    if (!FORMATS.contains(format)) {
      throw new UsageException(
          Problem.of(
                  "DB-U022",
                  null,
                  "no format is called '%s'%s"
                      .formatted(format, Nearest.suggestion(format, FORMATS)))
              .fix("one of " + String.join(", ", FORMATS)));
    }
    if (port < 0 || port > 0xffff) {
      throw new UsageException(
          Problem.of("DB-U023", "--port", "%d is no port".formatted(port)).fix("0 to 65535"));
    }
    byte[] bytes = DecodeInput.read(file, standardInput);
    return format.equals("packet") ? packets(context, bytes) : entries(context, bytes);
  }

  private ExitCode packets(CommandContext context, byte[] bytes) throws UsageException {
    Capture capture;
    boolean single = !CaptureReader.isCapture(bytes);
    try {
      capture = single ? new Capture("", "", List.of(frame(bytes))) : CaptureReader.read(bytes);
    } catch (CaptureException e) {
      throw new UsageException(
          Problem.of("DB-U024", file, "the capture is damaged " + e.getMessage())
              .fix("capture again, or repair it with editcap"));
    }
    PacketReport report = new PacketReport(capture, port);
    if (common().json()) {
      Json.print(context, report.json());
    } else {
      context.terminal().out().print(report.text(single || common().verbose()));
    }
    return report.isSound() ? ExitCode.OK : ExitCode.FAILED;
  }

  /** Bytes of one packet: from the IP header where they start as one does, else from Ethernet's. */
  private static CapturedFrame frame(byte[] bytes) {
    int version = (bytes[0] & 0xff) >> IP_VERSION_SHIFT;
    boolean ip = bytes[0] == 0x45 || version == 6;
    return new CapturedFrame(
        1, 0, ip ? LinkType.RAW_IP : LinkType.ETHERNET, Direction.UNKNOWN, bytes, bytes.length);
  }

  private ExitCode entries(CommandContext context, byte[] bytes) throws UsageException {
    List<Entry> entries = new ArrayList<>();
    int at = 0;
    while (at < bytes.length) {
      int left = bytes.length - at;
      int size = size(bytes, at);
      if (left < smallest()) {
        throw new UsageException(
            Problem.of(
                    "DB-U025",
                    file,
                    "%d bytes at the end are too few for a %s of %d bytes"
                        .formatted(left, format, smallest()))
                .fix("give whole entries"));
      }
      byte[] entry = Arrays.copyOfRange(bytes, at, at + Math.min(size, left));
      entries.add(entry(at, entry));
      at += size;
    }
    if (common().json()) {
      Json.print(context, Map.of("format", format, "entries", entries));
    } else {
      for (Entry entry : entries) {
        context.terminal().out().print(common().quiet() ? entry.text + "\n" : entry.detail);
      }
    }
    return entries.stream().anyMatch(Entry::malformed) ? ExitCode.FAILED : ExitCode.OK;
  }

  private int smallest() {
    return switch (format) {
      case "wqe" -> ControlSegment.BYTES;
      case "cqe" -> Cqe.BYTES;
      case "dbr" -> DoorbellRecord.BYTES;
      default -> Doorbell.BYTES;
    };
  }

  /** Bytes of the entry at {@code at}: a WQE says its own, rounded up to whole blocks. */
  private int size(byte[] bytes, int at) {
    int left = bytes.length - at;
    boolean blueFlame = format.equals("uar") && bytes.length >= SendQueue.BLOCK;
    if (!format.equals("wqe") && !blueFlame) {
      return smallest();
    }
    if (left < ControlSegment.BYTES) {
      return left;
    }
    byte[] control = Arrays.copyOfRange(bytes, at, at + ControlSegment.BYTES);
    int ds = Scratch.with(control, ControlSegment::ds);
    return Math.max(1, SendQueue.blocks(ds)) * SendQueue.BLOCK;
  }

  private Entry entry(int at, byte[] bytes) {
    return switch (format) {
      case "wqe" -> wqe(at, bytes);
      case "cqe" -> new Entry(at, CqePrinter.line(bytes), CqePrinter.full(bytes), false);
      case "dbr" ->
          new Entry(
              at,
              Scratch.with(bytes, DoorbellPrinter::recordLine),
              Scratch.with(bytes, DoorbellPrinter::fullRecord),
              false);
      default -> bytes.length >= ControlSegment.BYTES ? wqe(at, bytes) : doorbell(at, bytes);
    };
  }

  private static Entry wqe(int at, byte[] bytes) {
    String line = WqePrinter.line(bytes);
    return new Entry(at, line, WqePrinter.full(bytes), line.contains("MALFORMED"));
  }

  private static Entry doorbell(int at, byte[] bytes) {
    long value = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
    return new Entry(at, DoorbellPrinter.line(value), DoorbellPrinter.full(value), false);
  }
}
