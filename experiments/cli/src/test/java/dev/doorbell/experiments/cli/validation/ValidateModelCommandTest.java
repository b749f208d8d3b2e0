package dev.doorbell.experiments.cli.validation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.Session;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.topology.TopologyFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The runtime's latency is 2 us and a little more for 64 B by pull, 1 us for push. */
class ValidateModelCommandTest {
  private static final String COLUMNS = "id,machine,what,setup,metric,value,unit,config\n";

  @TempDir private Path folder;
  private final Session session = new Session();
  private String machine = "";

  @BeforeEach
  void write() throws Exception {
    machine =
        Files.writeString(
                folder.resolve("mine.yaml"),
                TopologyFile.text("round-pix")
                    .replace("bridges:", "rows: [lab]\nbridges:")
                    .replace("fence_ns: 200", "fence_ns: {value: 200, source: \"fitted to pull\"}"))
            .toString();
  }

  private String rows(String... lines) throws IOException {
    return Files.writeString(folder.resolve("rows.csv"), COLUMNS + String.join("\n", lines) + "\n")
        .toString();
  }

  private static final String PULL =
      "pull,lab,a put,,latency,2.03,us,kernel=put_latency size=64 | latency";
  private static final String PUSH =
      "push,lab,a put,,latency,1.40,us,kernel=put_latency size=64 path=push.bf | latency";

  @Test
  void each_row_stands_beside_the_model_with_its_error_and_verdict() throws Exception {
    assertThat(session.type("validate-model", machine, "--rows", rows(PULL, PUSH)))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("stands for lab")
        .containsPattern(
            "pull +a put, latency +2.03 +2.0\\d +us +[+-]\\d.\\d % +within 5 % +fitted")
        .containsPattern("push +a put, latency +1.40 +1.0\\d +us +-2\\d.\\d % +OUTSIDE 15 %\n")
        .containsPattern("mine.yaml +all +2 ")
        .containsPattern("mine.yaml +fitted +1 ")
        .containsPattern("mine.yaml +predicted +1 .* push ")
        .contains("MODELLED in virtual time");
  }

  @Test
  void a_predicted_row_that_repeats_another_one_is_not_counted_a_second_time() throws Exception {
    String read = ",nfp-snb,reads,,rate,4.1,GB/s,dma: transfer=read-rate bytes=64";
    String write = "row-2,nfp-snb,a read,,latency,550,ns,dma: transfer=read-latency bytes=1024";
    assertThat(
            session.type(
                "validate-model",
                "pciebench-nfp-snb",
                "--rank",
                "--rows",
                rows("row-1" + read, "row-1b" + read, write),
                "-o",
                folder.resolve("out").toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("rank 2 of 3 rows", "independent, 2: median error", "worst", ": row-1, row-2\n")
        .contains("follow, 1: row-1b\n");
    assertThat(folder.resolve("out/follows.csv"))
        .hasContent("id,topology\nrow-1b,pciebench-nfp-snb\n");
  }

  @Test
  void a_row_that_is_left_out_is_predicted_by_the_others_that_name_its_constants()
      throws Exception {
    Files.writeString(
        Path.of(machine),
        TopologyFile.text("round-pix")
            .replace("bridges:", "rows: [lab]\nbridges:")
            .replace(
                "{link: nic-slot, ns: 75}, {link: uplink, ns: 275}",
                "{link: nic-slot, ns: 75},"
                    + " {link: uplink, ns: {value: 275, source: \"fitted to near, large\"}}")
            .replace("fence_ns: 200", "fence_ns: {value: 200, source: \"fitted to alone\"}"));
    // Each way takes 350 ns in the file and 380 here.
    String file =
        rows(
            "near,lab,a read,,latency,850,ns,dma: transfer=read-latency bytes=8",
            "large,lab,a read,,latency,853,ns,dma: transfer=read-latency bytes=64");
    assertThat(session.type("validate-model", machine, "--rows", file, "--leave-one-out"))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .containsPattern("near +-[67]\\.\\d % +[+-]0\\.\\d % +nic0\\S*")
        .containsPattern("large +-[67]\\.\\d % +[+-]0\\.\\d %")
        .contains("left out of the fit: 2 rows, one at a time: median error 0.")
        .contains("1 parameters");
  }

  @Test
  void strict_refuses_a_row_outside_its_bar() throws Exception {
    String file = rows(PULL, PUSH);
    assertThat(session.type("validate-model", machine, "--rows", file, "--strict"))
        .isEqualTo(ExitCode.CLAIM);
    Files.writeString(
        Path.of(file), "bar,id,machine,what,setup,metric,value,unit,config\n35," + PUSH + "\n");
    assertThat(session.type("validate-model", machine, "--rows", file, "--strict"))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("OUTSIDE 15 %, bar 35 %: met");
  }

  @Test
  void a_row_may_be_the_difference_of_two_points() throws Exception {
    String difference =
        "more,lab,the way of 4 KiB more,,latency,0.05,us,"
            + "kernel=put_latency size=8256 | latency - kernel=put_latency size=64 | latency / 8";
    assertThat(session.type("validate-model", machine, "--rows", rows(difference), "--fmt", "json"))
        .isEqualTo(ExitCode.OK);
    JsonNode row = JsonMapper.shared().readTree(session.out()).at("/rows/0");
    assertThat(row.get("modelled").doubleValue()).isBetween(0.046, 0.056);
  }

  @Test
  void rows_that_cannot_be_run_are_named_with_the_reason_and_the_others_run() throws Exception {
    String file =
        rows(
            PULL,
            "other,elsewhere,a put,,latency,1,us,kernel=put_latency | latency",
            "none,lab,a put,,latency,1,us,none: nobody sells such an HCA",
            "unbound,lab,a put,,latency,1,us,",
            "typo,lab,a put,,latency,1,us,kernel=put_latency sise=8 | latency",
            "sweep,lab,a put,,latency,1,us,\"kernel=put_latency size=8,16 | latency\"",
            "unit,lab,a put,,goodput,1,us,kernel=put_bandwidth | goodput");
    assertThat(session.type("validate-model", "--rows", file, machine)).isEqualTo(ExitCode.CONFIG);
    assertThat(session.out())
        .containsPattern("pull .* within 5 %")
        .containsPattern("none +lab .* nobody sells such an HCA")
        .containsPattern("unbound .* nothing binds it to a config")
        .containsPattern("typo .* DB-C081: unknown setting 'sise' +- did you mean 'size'")
        .containsPattern("sweep .* DB-C081: '.*' names 2 points, and a row is one")
        .containsPattern("unit .* DB-C081: goodput is in GB/s, and the row in us")
        .doesNotContain("elsewhere");
  }

  @Test
  void a_point_without_a_result_is_exit_1() throws Exception {
    session.runtime().runner =
        (point, _) -> {
          throw new PointFailure(
              PointFailure.Kind.FAILED, Problem.of("DB-P002", point.id(), "an error CQE"));
        };
    assertThat(session.type("validate-model", machine, "--rows", rows(PULL)))
        .isEqualTo(ExitCode.FAILED);
    assertThat(session.out()).contains("DB-P002: an error CQE");
  }

  @Test
  void a_topology_that_stands_for_no_machine_and_an_unknown_name_are_refused() {
    assertThat(session.type("validate-model", "round-pix")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U080", "rows: [P-IB]");
    assertThat(session.type("validate-model", "rond-pix")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("did you mean 'round-pix'");
  }

  @Test
  void a_broken_file_of_rows_says_everything_at_once() throws Exception {
    String file = rows("a,lab,w,s,m,soon,us,", "a,lab,w,s,m,0,us,", ",lab,w,s,m,1,parsec,");
    assertThat(session.type("validate-model", machine, "--rows", file)).isEqualTo(ExitCode.CONFIG);
    assertThat(session.err())
        .contains("rows.csv:2  DB-C080  value 'soon' is not a number")
        .contains("rows.csv:3  DB-C080  a value of 0 has no relative error")
        .contains("rows.csv:3  DB-C080  there are two rows 'a'")
        .contains("rows.csv:4  DB-C080  unit 'parsec' is none of us, ns, M/s, GB/s")
        .contains("a row has an id and a machine");
    Files.writeString(Path.of(file), "id,machine,wat,setup,metric,value,unit\na,b,c,d,e,1,us\n");
    assertThat(session.type("validate-model", machine, "--rows", file)).isEqualTo(ExitCode.CONFIG);
    assertThat(session.err())
        .contains("column 'what' is missing")
        .contains("unknown column 'wat'  - did you mean 'what'");
  }

  @Test
  void results_are_written_and_are_always_the_same_bytes() throws Exception {
    String file = rows(PULL, PUSH);
    List<String> names = List.of("results.json", "rows.csv");
    for (String out : List.of("one", "two")) {
      session.type("validate-model", machine, "--rows", file, "-o", folder.resolve(out).toString());
    }
    for (String name : names) {
      assertThat(folder.resolve("one").resolve(name))
          .hasSameBinaryContentAs(folder.resolve("two").resolve(name));
    }
  }

  @Test
  void the_page_says_first_how_far_off_the_model_is() throws Exception {
    session.type("validate-model", machine, "--rows", rows(PULL, PUSH), "--fmt", "md");
    assertThat(session.out())
        .contains("**On 2 of 2 published rows")
        .contains("Fitted, 1: median")
        .contains("Predicted, 1: median")
        .containsPattern("No row tests the topologies `same-switch`");
  }
}
