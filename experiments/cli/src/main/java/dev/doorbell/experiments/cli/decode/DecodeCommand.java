package dev.doorbell.experiments.cli.decode;

import dev.doorbell.core.pcap.CaptureReader;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.roce.UdpHeader;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.pasted.DecodedEntry;
import dev.doorbell.experiments.pasted.PacketReport;
import java.io.InputStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Explains WQEs, CQEs, doorbells and packets bit by bit.",
      "",
      "  doorbell decode packet capture.pcapng",
      "  doorbell decode wqe ring.bin",
      "  doorbell decode wqe --qp dc dci.txt",
      "  echo '00000000 00010001 00000008 00000000' | doorbell decode wqe -   a NOP",
      "",
      "Bytes come as binary, as hexadecimal digits, or as a pcapng or pcap capture. Every packet",
      "of it is checked: ICRC, sequence numbers, the rules of reliable connections. Exits with 1",
      "when something is wrong.",
      ""
    })
public final class DecodeCommand extends CliCommand {
  public static final List<String> FORMATS = List.of("wqe", "cqe", "dbr", "uar", "packet");

  private static final List<String> KINDS = List.of("rc", "dc", "ud", "eth", "xrc");

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
      names = "--qp",
      paramLabel = "KIND",
      description =
          "Kind of the WQEs' queue pair: rc, dc, ud, eth, xrc (default: the one that fits best).")
  private String queue = "";

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "4791",
      description = "UDP port of RoCE in a capture; 0 means any.")
  private int port = UdpHeader.ROCE_PORT;

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
    if (!queue.isEmpty() && !KINDS.contains(queue.toLowerCase(Locale.ROOT))) {
      throw new UsageException(
          Problem.of("DB-U023", "--qp", "'%s' is no kind of queue pair".formatted(queue))
              .fix("one of " + String.join(", ", KINDS)));
    }
    byte[] bytes = DecodeInput.read(file, standardInput);
    return format.equals("packet")
        ? packets(context, file, bytes, port)
        : entries(context, DecodedEntry.whole(format, bytes));
  }

  private ExitCode packets(CommandContext context, String name, byte[] bytes, int roce)
      throws UsageException {
    boolean single = !CaptureReader.isCapture(bytes);
    PacketReport report = DecodeInput.packets(name, bytes, roce);
    print(context, report::json, () -> report.text(single || common().verbose()));
    return report.isSound() ? ExitCode.OK : ExitCode.FAILED;
  }

  private ExitCode entries(CommandContext context, byte[] bytes) throws UsageException {
    List<DecodedEntry> entries = DecodedEntry.all(format, bytes, queue);
    int left = DecodedEntry.left(format, bytes);
    if (left > 0) {
      throw new UsageException(
          Problem.of(
                  "DB-U025",
                  file,
                  "%d bytes at the end are too few for a %s of %d bytes"
                      .formatted(left, format, DecodedEntry.smallest(format)))
              .fix("give whole entries"));
    }
    print(
        context,
        () -> Map.of("format", format, "entries", entries),
        () ->
            entries.stream()
                .map(entry -> common().quiet() ? entry.text() + "\n" : entry.detail())
                .collect(Collectors.joining()));
    return entries.stream().anyMatch(DecodedEntry::malformed) ? ExitCode.FAILED : ExitCode.OK;
  }
}
