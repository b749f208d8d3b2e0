package dev.doorbell.experiments.topology;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.DocumentKind;
import dev.doorbell.experiments.config.document.SourcePositions.ProblemPosition;
import dev.doorbell.experiments.config.document.YamlDocument;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.SchemaChecker;
import dev.doorbell.experiments.topology.Section.ConstantRecorder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Finds and reads topologies: those that come with the program by name, others by path. */
public final class TopologyFile {
  /** Files that hold a topology. */
  private static final DocumentKind KIND = new DocumentKind("topology", "a mapping", 'T');

  private static final SchemaChecker CHECKER = new SchemaChecker(Schema.load("topology"));

  private static final String PACKAGED = "/dev/doorbell/experiments/topologies/";
  private static final String SUFFIX = ".yaml";

  /** Suffix of files that calibrate writes, which are YAML, too. */
  private static final String MACHINE = ".json";

  private static final List<String> NAMES =
      List.of(
          "same-switch",
          "cross-rc",
          "cross-socket",
          "no-p2p-reads",
          "vm-redirect",
          "round-pix",
          "round-sys",
          "two-gpus",
          "h200-cx7",
          "h200-cx7-rc",
          "h200-cx7-epyc",
          "h200",
          "h200nvl-cx7-far",
          "h100-cx7",
          "h800-cx7",
          "dgx-h100",
          "dgx-a100",
          "gb200-cx7",
          "pciebench-nfp-bdw",
          "pciebench-nfp-hsw",
          "pciebench-nfp-hsw-2637",
          "pciebench-nfp-ib",
          "pciebench-nfp-snb");

  private TopologyFile() {}

  /** The names of the topologies that come with the program. */
  public static List<String> names() {
    return NAMES;
  }

  /**
   * Reads a topology.
   *
   * @param nameOrPath one of {@link #names}, or the path of a file that ends in {@code .yaml} or
   *     {@code .json}
   * @throws ConfigException with everything that is wrong, in the order of the file
   */
  public static Topology load(String nameOrPath) throws ConfigException {
    return parse(nameOrPath, text(nameOrPath));
  }

  /**
   * Reads a topology with some constants changed, to find out their influence.
   *
   * @param instead values by the keys of {@link Topology#constants}
   */
  public static Topology load(String nameOrPath, Map<String, Double> instead)
      throws ConfigException {
    return read(nameOrPath, text(nameOrPath), instead).topology();
  }

  /**
   * Reads what a topology says of published measurements, in its keys {@code rows} and {@code
   * left_out}.
   *
   * @throws ConfigException with everything that is wrong, in the order of the file
   */
  public static MachineStands stands(String nameOrPath) throws ConfigException {
    return read(nameOrPath, text(nameOrPath), Map.of()).standing();
  }

  /**
   * The text of a topology file, to be copied and changed.
   *
   * @throws ConfigException when there is none
   */
  public static String text(String nameOrPath) throws ConfigException {
    return nameOrPath.endsWith(SUFFIX) || nameOrPath.endsWith(MACHINE)
        ? KIND.text(Path.of(nameOrPath))
        : packaged(nameOrPath);
  }

  private static String packaged(String name) throws ConfigException {
    try (InputStream in =
        NAMES.contains(name)
            ? TopologyFile.class.getResourceAsStream(PACKAGED + name + SUFFIX)
            : null) {
      if (in == null) {
        throw new ConfigException(
            List.of(
                Problem.of(
                        "DB-T001",
                        null,
                        "unknown topology '%s'%s".formatted(name, Nearest.suggestion(name, NAMES)))
                    .fix(
                        "take one of %s, or the path of a file that ends in .yaml or .json"
                            .formatted(String.join(", ", NAMES)))));
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads the text of a topology.
   *
   * @param file what to call it in problems
   */
  public static Topology parse(String file, String text) throws ConfigException {
    return read(file, text, Map.of()).topology();
  }

  private static TopologyReader.Read read(String file, String text, Map<String, Double> instead)
      throws ConfigException {
    YamlDocument.Parsed document = YamlDocument.parse(file, text, KIND.name());
    ConstantRecorder recorder = new ConstantRecorder(document.positions());
    TopologyReader.Read read = read(document, recorder);
    if (instead.isEmpty()) {
      return read;
    }
    instead.forEach((key, value) -> recorder.replace(document.root(), key, value));
    return read(document, new ConstantRecorder(document.positions()));
  }

  private static TopologyReader.Read read(YamlDocument.Parsed document, ConstantRecorder recorder)
      throws ConfigException {
    ConfigException.throwIfAny(CHECKER.check(document.root(), document.positions()));
    // Limits of numbers hold for those with a source of their own, too.
    ConfigException.throwIfAny(
        CHECKER.check(Section.plain(document.root().deepCopy()), document.positions()));
    TopologyReader.Read read = new TopologyReader(recorder, document.root()).read();
    if (read == null) {
      throw new ConfigException(
          recorder.problems().stream().sorted(Comparator.comparing(ProblemPosition::of)).toList());
    }
    return read;
  }

  /**
   * Published measurements that a topology stands for.
   *
   * @param rows names of the machines that it stands for, as the keys of {@code rows} name them
   * @param leftOut error of its fit on rows that the fit was made without, in the words of the tool
   *     that fitted it; empty where none is given
   */
  public record MachineStands(List<String> rows, String leftOut) {}
}
