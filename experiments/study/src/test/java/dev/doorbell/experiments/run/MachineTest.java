package dev.doorbell.experiments.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineTest {
  @Test
  void a_bundle_names_the_commit_that_it_was_made_of_wherever_it_lies(@TempDir Path home)
      throws IOException {
    Files.writeString(home.resolve("commit"), "0123abc-dirty\n");
    assertThat(Machine.commit(home)).contains("0123abc-dirty");
  }
}
