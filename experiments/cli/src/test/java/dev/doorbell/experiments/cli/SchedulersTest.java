package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The recipes of docs/running.md, typed where their schedulers are installed. */
@Tag("slow")
class SchedulersTest {
  private static final String SWEEP = "pull-vs-push -s size=64,4K -s path=pull,pull.bf";

  private static final String SIZES = "'size=pow2(8,1M),24,48,96,192,384,768,1536'";

  /** A cluster of one node, of the daemons of Slurm and their keys, within a folder. */
  private static final String CLUSTER =
      """
      mkdir state spool
      head -c 1024 /dev/urandom > key; chmod 600 key
      cat > slurm.conf <<END
      ClusterName=one
      SlurmctldHost=localhost
      AuthInfo=socket=$PWD/munge.sock
      SlurmUser=root
      SlurmctldPort=16817
      SlurmdPort=16818
      SlurmctldPidFile=$PWD/slurmctld.pid
      SlurmdPidFile=$PWD/slurmd.pid
      StateSaveLocation=$PWD/state
      SlurmdSpoolDir=$PWD/spool
      SlurmctldLogFile=$PWD/slurmctld.log
      SlurmdLogFile=$PWD/slurmd.log
      ProctrackType=proctrack/linuxproc
      TaskPlugin=task/none
      SelectType=select/cons_tres
      SelectTypeParameters=CR_Core
      NodeName=localhost CPUs=$(nproc)
      PartitionName=all Nodes=ALL Default=YES State=UP
      END
      export SLURM_CONF=$PWD/slurm.conf
      trap 'kill $(cat slurmctld.pid slurmd.pid munge.pid)' EXIT
      munged --force --socket=$PWD/munge.sock --key-file=key --pid-file=$PWD/munge.pid \
        --log-file=munge.log --seed-file=seed
      slurmctld
      slurmd -N localhost
      """;

  @TempDir private Path folder;

  private static boolean has(String... programs) throws IOException, InterruptedException {
    String script = "command -v " + String.join(" && command -v ", programs);
    ProcessBuilder look = new ProcessBuilder("bash", "-c", script);
    look.environment().merge("PATH", ":/usr/sbin:/sbin", String::concat);
    return look.start().waitFor() == 0;
  }

  private String typed(String script) throws IOException, InterruptedException {
    Path launcher = folder.resolve("doorbell");
    if (!Files.exists(launcher)) {
      String java = String.join("' '", TestProgram.java("-XX:TieredStopAtLevel=1"));
      Files.writeString(
          launcher, "#!/bin/sh\nexec '" + java + "' dev.doorbell.experiments.Main \"$@\"\n");
      assertThat(launcher.toFile().setExecutable(true)).isTrue();
    }
    ProcessBuilder shell = new ProcessBuilder("bash", "-ec", script).directory(folder.toFile());
    shell.environment().merge("PATH", ":/usr/sbin:/sbin", String::concat);
    try (TestProgram typing = TestProgram.start(folder, shell)) {
      return typing.succeed();
    }
  }

  /** Returns the line of the page that begins so, with a smaller sweep. */
  private static String line(String beginning) throws IOException {
    return page()
        .lines()
        .filter(line -> line.startsWith("    " + beginning))
        .findFirst()
        .orElseThrow()
        .strip();
  }

  private static String page() throws IOException {
    return Files.readString(Path.of("../docs/running.md")).replace("pull-vs-push", SWEEP);
  }

  private void merges() throws IOException, InterruptedException {
    typed(line("./doorbell merge runs/*"));
    typed("./doorbell run " + SWEEP + " --out whole --quiet");
    typed("./doorbell verify merged/*");
    typed("cmp merged/*/summary.csv whole/*/summary.csv; diff -r merged/*/samples whole/*/samples");
  }

  @Test
  void an_array_of_slurm() throws IOException, InterruptedException {
    assumeTrue(has("slurmctld", "slurmd", "munged", "sbatch"), "Slurm is not installed");
    assumeTrue("root".equals(System.getProperty("user.name")), "only root starts Slurm here");
    String script = page();
    int from = script.indexOf("#!/bin/bash\n#SBATCH");
    Files.writeString(
        folder.resolve("sweep.sh"), script.substring(from, script.indexOf("```", from)));
    typed(CLUSTER + "timeout 500 " + line("sbatch"));
    try (Stream<Path> shards = Files.list(folder.resolve("runs"))) {
      assertThat(shards.count()).isEqualTo(8);
    }
    merges();
  }

  /** One task is killed; its points are named, run again, and all is as of one process. */
  @Test
  void four_hundred_points_by_slurm_of_which_a_task_was_killed()
      throws IOException, InterruptedException {
    assumeTrue(has("slurmctld", "slurmd", "munged", "sbatch"), "Slurm is not installed");
    assumeTrue("root".equals(System.getProperty("user.name")), "only root starts Slurm here");
    String sweep = "pull-vs-push -s samples=20 -s " + SIZES;
    String script = page().replace(SWEEP, sweep);
    int from = script.indexOf("#!/bin/bash\n#SBATCH");
    Files.writeString(
        folder.resolve("sweep.sh"), script.substring(from, script.indexOf("```", from)));
    typed(
        CLUSTER
            + """
            job=$(sbatch --parsable sweep.sh)
            for i in $(seq 3000); do
              # Some of its points are done, and others are not.
              if grep -qs '"point"' runs/*/journal.jsonl && squeue -h -t R -o %i | grep -q "_5$"; then
                sleep 1
                scancel --signal=KILL --full "${job}_5"
                break
              fi
              sleep 0.1
            done
            for i in $(seq 6000); do
              [ -n "$(squeue -h)" ] || exit 0
              sleep 0.1
            done
            exit 1
            """);
    String merged = typed("./doorbell merge runs/* --out merged || test $? = 7");
    assertThat(merged).contains("DB-R013", "points have no result");
    typed("./doorbell run --resume merged/* --quiet");
    typed("./doorbell run " + sweep + " --out whole --quiet");
    String table = typed("./doorbell table whole/*");
    assertThat(table).containsPattern("4[0-9][0-9] of 4[0-9][0-9] points verified");
    typed("./doorbell verify merged/*");
    typed("cmp merged/*/summary.csv whole/*/summary.csv; diff -r merged/*/samples whole/*/samples");
    for (String run : List.of("merged", "whole")) {
      typed("./doorbell plot " + run + "/* -y latency -x size --out plots-" + run);
    }
    typed("./doorbell gate merged/* --baseline whole/*");
  }

  @Test
  void parallel() throws IOException, InterruptedException {
    assumeTrue(has("parallel"), "GNU parallel is not installed");
    typed(line("parallel"));
    merges();
  }

  @Test
  void ranks_of_mpi() throws IOException, InterruptedException {
    assumeTrue(has("mpirun.mpich"), "MPICH is not installed");
    typed(line("mpirun").replace("mpirun", "mpirun.mpich"));
    merges();
  }
}
