package dev.doorbell.experiments.cli.explain;

import dev.doorbell.core.pcap.CaptureException;
import dev.doorbell.core.pcap.CaptureReader;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.core.roce.UdpHeader;
import dev.doorbell.doctor.log.LogDiagnosis;
import dev.doorbell.experiments.cli.collective.CollCommand;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.decode.DecodeInput;
import dev.doorbell.experiments.cli.plan.ExperimentFiles;
import dev.doorbell.experiments.collective.Collective;
import dev.doorbell.experiments.pasted.DecodedEntry;
import dev.doorbell.experiments.pasted.HexDump;
import dev.doorbell.experiments.pasted.PacketReport;
import dev.doorbell.experiments.pasted.PastedTable;
import dev.doorbell.experiments.pasted.PastedText;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.topology.machine.MachineMap;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Says what lies in a text that somebody pasted, and what it means. See docs/seeds.md.",
      "",
      "  doorbell explain nccl.log",
      "  dmesg | doorbell explain",
      "  nvidia-smi topo -m | doorbell explain -",
      "",
      "It finds logs of NCCL, RCCL, NVSHMEM, UCX, libfabric, UCCL, DeepEP, nixl, Mooncake, perftest"
          + " and",
      "the kernel; dumps of WQEs, CQEs and packets; captures; tables of nccl-tests, perftest and"
          + " OSU;",
      "machines as NCCL, nvidia-smi, rocm-smi, lspci and lstopo describe them; programs of verbs."
          + " Exits",
      "with 1 when nothing was understood.",
      ""
    })
public final class ExplainCommand extends CliCommand {
  /** Bytes of the largest put whose price the forms have been held against. */
  private static final long LARGEST_PUT = 1L << 20;

  /** Ranks of the largest collective whose schedule is laid out for a table. */
  private static final int MOST_RANKS = 32;

  /** Time between two work requests of one queue pair of a ConnectX-7: 30.7 million a second. */
  private static final double QUEUE_NANOS = 32.6;

  private static final int GZIP = 0x1f8b;
  private static final Pattern CREATE = Pattern.compile("\\bibv_create_qp\\s*\\(");
  private static final Pattern SIZES = Pattern.compile("max_send_wr\\s*=");
  private static final Pattern QUEUE = Pattern.compile("(\\w+(?:\\.|->))(?:send|recv)_cq");
  private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|//[^\\n]*");

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "FILE",
      defaultValue = "-",
      description = "A file, or - for standard input (the default).")
  private String file = "-";

  @Option(
      names = "--placement",
      paramLabel = "NAME",
      description = "Machine that tables are held against (default: the one that they look like).")
  private String placement = "";

  private final InputStream standardInput;

  /** Creates a command that reads this process's standard input where no file is named. */
  public ExplainCommand() {
    this(System.in);
  }

  ExplainCommand(InputStream standardInput) {
    this.standardInput = standardInput;
  }

  /**
   * A part of the text.
   *
   * @param what it was taken for
   * @param understood false where it was recognised, and cannot be read
   */
  record Finding(String what, String text, boolean understood) {}

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    byte[] bytes = DecodeInput.raw(file, standardInput);
    List<Finding> findings = new ArrayList<>();
    if (CaptureReader.isCapture(bytes)) {
      PacketReport report = DecodeInput.packets(file, bytes, UdpHeader.ROCE_PORT);
      findings.add(new Finding("a capture", report.text(common().verbose()), report.isDecoded()));
    } else if (!DecodeInput.isText(bytes)) {
      findings.add(binary(bytes));
    } else {
      text(context, new String(bytes, StandardCharsets.UTF_8), findings);
    }
    if (findings.isEmpty()) {
      findings.add(new Finding("not understood", "there is no text in it\n", false));
    }
    print(
        context,
        () -> findings,
        () ->
            findings.stream()
                .map(finding -> "== %s%n%s%n".formatted(finding.what, finding.text))
                .collect(Collectors.joining()));
    return findings.stream().anyMatch(Finding::understood) ? ExitCode.OK : ExitCode.FAILED;
  }

  private void text(CommandContext context, String text, List<Finding> findings) {
    if (CREATE.matcher(text).find() && text.contains(";") && text.contains("{")) {
      findings.add(program(text));
      return;
    }
    PastedText pasted = PastedText.of(text);
    for (PastedText.Part part : pasted.parts()) {
      Finding finding =
          switch (part.kind()) {
            case DUMP -> dump(part);
            case MACHINE -> machine(part);
            case TABLE -> table(context, part);
          };
      findings.add(
          new Finding(
              "%s %d to %d: %s"
                  .formatted(
                      part.lines().size() == 1 ? "line" : "lines",
                      part.first(),
                      part.last(),
                      finding.what),
              finding.text,
              finding.understood));
    }
    if (!pasted.log().isEmpty()) {
      LogDiagnosis log = LogDiagnosis.of(pasted.log());
      boolean understood = log.recognised() > 0;
      findings.add(
          new Finding(
              understood ? "lines of logs" : "lines that were not understood",
              log.text(),
              understood));
    }
  }

  private static Finding binary(byte[] bytes) {
    int magic = bytes.length < 2 ? 0 : (bytes[0] & 0xff) << 8 | (bytes[1] & 0xff);
    String start = new String(bytes, 0, Math.min(bytes.length, 5), StandardCharsets.ISO_8859_1);
    if (magic == GZIP) {
      return new Finding("compressed", "unpack it first: gunzip\n", false);
    }
    if (start.equals("snoop")) {
      return new Finding(
          "a capture of snoop", "not read; convert it: editcap -F pcapng IN OUT\n", false);
    }
    return bytesOf(bytes);
  }

  private Finding dump(PastedText.Part part) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    part.lines().forEach(line -> HexDump.sure(line).ifPresent(bytes::writeBytes));
    return bytesOf(bytes.toByteArray());
  }

  private static Finding bytesOf(byte[] bytes) {
    try {
      PacketReport packet = PacketReport.of(bytes, UdpHeader.ROCE_PORT);
      if (packet.isDecoded()) {
        return new Finding("a packet, %d bytes".formatted(bytes.length), packet.text(true), true);
      }
    } catch (CaptureException _) {
      // No capture, since these are the bytes of one packet at most.
    }
    String format = DecodedEntry.guess(bytes);
    if (format.isEmpty()) {
      return new Finding(
          "%d bytes".formatted(bytes.length),
          "not understood: neither a packet nor a WQE nor a CQE\n",
          false);
    }
    byte[] whole = DecodedEntry.whole(format, bytes);
    List<DecodedEntry> entries = DecodedEntry.all(format, whole, "");
    return new Finding(
        "%d bytes, %d %s%s"
            .formatted(
                bytes.length,
                entries.size(),
                format.toUpperCase(Locale.ROOT),
                whole.length == bytes.length ? "" : " of which only the end is here"),
        entries.stream().map(DecodedEntry::detail).collect(Collectors.joining()),
        !entries.isEmpty());
  }

  private static Finding machine(PastedText.Part part) {
    try {
      MachineMap map = MachineReader.read("line %d".formatted(part.first()), part.text());
      StringBuilder text = new StringBuilder(devices(map));
      map.findings().forEach(finding -> text.append(finding).append('\n'));
      return new Finding("a machine, %s".formatted(map.format()), text.toString(), true);
    } catch (ConfigException e) {
      return new Finding(
          "a machine that cannot be read", e.problems().getFirst().text() + "\n", false);
    }
  }

  /** Devices, links and distances of a machine, a row for each device. */
  private static String devices(MachineMap map) {
    boolean models = map.devices().stream().anyMatch(device -> !device.model().isEmpty());
    TextTable table = new TextTable().left("device").left("bus").right("numa").left("link");
    map.devices().forEach(device -> table.left(device.name()));
    if (models) {
      table.left("model");
    }
    for (MachineDevice device : map.devices()) {
      List<String> cells =
          new ArrayList<>(
              List.of(
                  device.name(),
                  device.bus().isEmpty() ? "-" : device.bus(),
                  device.numa() < 0 ? "-" : String.valueOf(device.numa()),
                  device.link() == null ? "-" : device.link().toString()));
      for (MachineDevice other : map.devices()) {
        cells.add(other.equals(device) ? "X" : map.link(device, other));
      }
      if (models) {
        cells.add(device.model().isEmpty() ? "-" : device.model());
      }
      table.row(cells);
    }
    return table.text();
  }

  private Finding table(CommandContext context, PastedText.Part part) {
    PastedTable table = PastedTable.of(part.lines());
    String topology = placement.isEmpty() ? table.machine().topology() : placement;
    String title = "a table of %s".formatted(table.tool().words());
    try {
      Map<Long, Double> model = model(context, table, topology);
      String why = model.isEmpty() ? unmodelled(table) : "";
      return new Finding(title, table.text(topology, model, QUEUE_NANOS) + why, true);
    } catch (ProblemException e) {
      return new Finding(
          title, table.text(topology, Map.of(), QUEUE_NANOS) + e.problem().text() + "\n", true);
    }
  }

  private static String unmodelled(PastedTable table) {
    if (table.isPointToPoint()) {
      return "";
    }
    return table.collective().isPresent()
        ? "of more than %d ranks no schedule is laid out here: doorbell coll --explain\n"
            .formatted(MOST_RANKS)
        : "the table does not say which collective of how many ranks ran, or the model lacks it:"
            + " paste nccl-tests' first lines, too\n";
  }

  private static Map<Long, Double> model(CommandContext context, PastedTable table, String topology)
      throws ProblemException {
    Optional<Collective> collective = table.collective();
    if (collective.isPresent()) {
      int ranks = table.machine().ranks();
      return ranks > MOST_RANKS
          ? Map.of()
          : CollCommand.predicted(context, collective.get(), table.sizes(), ranks, topology);
    }
    String sizes =
        table.sizes().stream()
            .map(ExplainCommand::modelled)
            .distinct()
            .map(String::valueOf)
            .collect(Collectors.joining(","));
    if (sizes.isEmpty() || !table.isPointToPoint()) {
      return Map.of();
    }
    List<String> settings = List.of("path=pull", "placement=" + topology, "size=" + sizes);
    Map<Long, Double> puts = new HashMap<>();
    for (Point point : Plan.of(ExperimentFiles.read(context, "pull-vs-push", settings)).points()) {
      long size = point.whole("size");
      Prediction prediction = context.runtime().get().predict(point);
      prediction
          .of(table.latency() ? "latency" : "goodput")
          .map(Prediction.Term::value)
          .ifPresent(value -> puts.put(size, table.latency() ? value : size / value));
    }
    Map<Long, Double> model = new HashMap<>();
    for (long size : table.sizes()) {
      Double put = puts.get(modelled(size));
      if (put != null) {
        // Beyond the largest put that has a form, time grows in proportion to bytes.
        model.put(size, size <= LARGEST_PUT || table.latency() ? put : put * size / LARGEST_PUT);
      }
    }
    model.keySet().removeIf(size -> table.latency() && size > LARGEST_PUT);
    return model;
  }

  /** Returns the size of the put that a row is held against: whole words, up to the largest. */
  private static long modelled(long size) {
    return Math.min(LARGEST_PUT, Math.ceilDiv(size, Long.BYTES) * Long.BYTES);
  }

  /** The fault of tutorials: a queue pair without a receive queue, on which libibverbs crashes. */
  private static Finding program(String source) {
    String text = COMMENT.matcher(source).replaceAll(" ");
    Matcher create = CREATE.matcher(text);
    Matcher variable = QUEUE.matcher(text);
    String owner = variable.find() ? variable.group(1) : "attr.";
    StringBuilder found = new StringBuilder();
    if (create.find()) {
      String before = text.substring(0, create.start());
      for (String queue : List.of("send_cq", "recv_cq")) {
        if (!before.contains(queue)) {
          int at = source.indexOf("ibv_create_qp");
          int line = source.substring(0, at).split("\n", -1).length;
          found.append(
              "line %d: ibv_create_qp is called with %s = NULL: libibverbs itself crashes on it\n"
                      .formatted(line, queue)
                  + "  fix     before the call: %s%s = cq; one completion queue may serve both\n"
                      .formatted(owner, queue));
        }
      }
    }
    if (!SIZES.matcher(text).find()) {
      found.append("cap.max_send_wr is 0: ibv_post_send fails with ENOMEM; set it to 1 or more\n");
    }
    if (!text.contains("ibv_modify_qp")) {
      found.append(
          "ibv_modify_qp is never called: the queue pair stays in RESET, and ibv_post_send"
              + " fails\n");
    }
    return new Finding(
        "a program that uses verbs",
        found.isEmpty() ? "no fault that this knows\n" : found.toString(),
        true);
  }
}
