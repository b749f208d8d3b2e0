package dev.doorbell.experiments.fuzz.run;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.doctor.log.LogDiagnosis;
import dev.doorbell.experiments.chakra.ExecutionTrace;
import dev.doorbell.experiments.chakra.TraceWriter;
import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import dev.doorbell.experiments.fuzz.FuzzTarget.Session;
import dev.doorbell.experiments.fuzz.Mutator;
import dev.doorbell.experiments.run.Journal;
import dev.doorbell.experiments.run.Manifest;
import dev.doorbell.experiments.run.SamplesFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/** Files that programs write: those of a run directory, reports and logs of other machines. */
public final class RecordTargets {
  private static final List<byte[]> JSON =
      Mutator.bytes("\"index\":", "\"status\":\"OK\"", "null", "1e999", "\\ud800", "[[[[[[", "\t");

  /** Returns the targets. */
  public List<FuzzTarget> targets() {
    return List.of(
        new FuzzTarget("journal", "journals of runs", JournalSession::new),
        FuzzTarget.of(
            "manifest",
            "manifests of runs",
            () -> List.of(Seeds.file("manifest.json")),
            JSON,
            input -> refusing(() -> Manifest.parse(input))),
        FuzzTarget.of(
            "samples",
            "samples of a point",
            () -> Mutator.bytes("latency [ns] measured,goodput [GB/s]\n812.5,1.5e3\n-3,\n1,2\n"),
            Mutator.bytes("\"latency [ns]\"", "1e-400", "0x1p3", "NaN", "[]", ",,,,", "latency ["),
            input -> refusing(() -> SamplesFile.read(new ByteArrayInputStream(input), _ -> true))),
        FuzzTarget.of(
            "trace",
            "execution traces, of two ranks that do the same",
            () -> List.of(trace()),
            Mutator.bytes(
                "\u0007\n\u00050.0.4", "R\r\n\tcomm_size", "pg_name", "\u007f\u007f\u007f\u007f"),
            RecordTargets::trace),
        FuzzTarget.of(
            "log",
            "logs of other libraries",
            () -> List.of(Seeds.file("nccl.log")),
            Mutator.bytes(
                "NCCL WARN ", "status=", "vendor err ", "mlx5_", ":::::::::", "         "),
            input -> {
              LogDiagnosis.of(Seeds.text(input)).text();
              return Outcome.ACCEPTED;
            }));
  }

  /** A reader that refuses by an {@link IOException}. */
  private interface Reading {
    Object read() throws IOException;
  }

  private static Outcome refusing(Reading reading) {
    try {
      reading.read();
      return Outcome.ACCEPTED;
    } catch (IOException _) {
      return Outcome.REFUSED;
    }
  }

  private static byte[] trace() {
    return new TraceWriter()
        .node(1, TraceWriter.METADATA, 0, Map.of())
        .node(2, TraceWriter.COMPUTE, 5, Map.of("num_ops", 4L, "tensor_size", 8L), 1)
        .node(3, TraceWriter.COLLECTIVE, 0, Map.of("comm_type", 0L, "comm_size", 64L), 1, 2)
        .node(4, TraceWriter.COLLECTIVE, 0, Map.of("comm_type", 9L, "pg_name", "a"))
        .bytes();
  }

  private static Outcome trace(byte[] input) {
    try {
      ExecutionTrace.read("fuzz", 2, "{\"a\": [1, 0]}", _ -> new ByteArrayInputStream(input));
      return Outcome.ACCEPTED;
    } catch (ConfigException e) {
      return YamlTargets.refused(e.problems());
    }
  }

  /** Journals, half of them with checksums that fit what was changed. */
  private static final class JournalSession implements Session {
    private static final List<String> ENTRIES =
        List.of(
            """
            {"index":0,"point":"pull_64","status":"OK","basis":"MODELLED","samples":"pull_64.csv",\
            "sha256":"5ae496","counters":{"fences":{"value":2.0,"unit":""}},"prediction":[],\
            "verifiedBytes":40,"notes":[],"problem":null,"faults":[],"wallNanos":37,"attempt":1}\
            """,
            """
            {"index":1,"point":"pull_4096","status":"FAILED","basis":null,"samples":null,\
            "sha256":null,"counters":{},"prediction":[],"verifiedBytes":0,"notes":["a note"],\
            "problem":{"code":"DB-P001","where":"p","what":"late","effect":null,"fix":null},\
            "faults":[],"wallNanos":3,"attempt":2}\
            """);

    @Override
    public List<byte[]> seeds() {
      return List.of(Journal.ofJson(ENTRIES.stream().map(Seeds::bytes).toList()));
    }

    @Override
    public List<byte[]> dictionary() {
      return JSON;
    }

    @Override
    public byte[] generate(RandomGenerator random, Mutator mutator) {
      if (random.nextBoolean()) {
        return mutator.mutate(random);
      }
      return Journal.ofJson(
          ENTRIES.stream().map(entry -> mutator.mutate(Seeds.bytes(entry), random)).toList());
    }

    @Override
    public Outcome read(byte[] input) {
      return refusing(() -> Journal.parse(input));
    }
  }
}
