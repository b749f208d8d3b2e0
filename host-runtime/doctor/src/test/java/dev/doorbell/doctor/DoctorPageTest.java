package dev.doorbell.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The page about the doctor is what the code says. */
class DoctorPageTest {
  private static final Path PAGE = Path.of("../../docs/doctor.md");
  private static final String REWRITE =
      "run: ./doorbell test doctor DoctorPageTest" + " -Ddocs.write=true";

  @Test
  void the_page_is_what_the_codes_say() throws IOException {
    if (Boolean.getBoolean("docs.write")) {
      Files.writeString(PAGE, DoctorPage.markdown());
    }
    assertThat(PAGE).as("docs/doctor.md is stale; %s", REWRITE).exists();
    assertThat(Files.readString(PAGE))
        .as("docs/doctor.md is stale; %s", REWRITE)
        .isEqualTo(DoctorPage.markdown());
  }
}
