package dev.doorbell.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.verbs.devx.ServedObjectsTest;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The HCA on Debian's own libmlx5, which takes the software HCA for a ConnectX. */
class LibMlx5Test {
  @TempDir private Path folder;

  @Test
  void the_hca_by_devx_does_every_operation() throws Exception {
    try (ServedJvm jvm = ServedJvm.start(folder, 1)) {
      String said = jvm.run(Mlx5ScenarioTest.class);
      assertThat(said).contains(", 0 failed, ").doesNotContain("guest: 0 passed");
      jvm.awaitNobody();
    }
  }

  @Test
  void pinned_pages_stay_where_they_are_when_a_queue_is_made_in_them() throws Exception {
    try (ServedJvm jvm = ServedJvm.start(folder, 1)) {
      assertThat(jvm.run(ServedPagesTest.class)).contains("guest: 2 passed, 0 failed");
    }
  }

  @Test
  void a_jvm_serves_itself_the_device_that_it_drives() throws Exception {
    assertThat(ServedJvm.runAlone(folder, OneProcessTest.class))
        .contains("guest: 5 passed, 0 failed, 0 skipped");
  }

  @Test
  void a_served_device_has_firmwares_objects_that_our_hca_does_not_take() throws Exception {
    try (ServedJvm jvm = ServedJvm.start(folder, 1)) {
      assertThat(jvm.run(ServedObjectsTest.class)).contains("guest: 3 passed, 0 failed");
      jvm.awaitNobody();
    }
  }

  @Test
  void our_wqes_records_and_doorbells_are_those_of_libmlx5() throws Exception {
    try (ServedJvm jvm = ServedJvm.start(folder, 1)) {
      assertThat(jvm.run(PostSendEqualityTest.class)).contains("guest: 2 passed, 0 failed");
      jvm.awaitNobody();
    }
  }

  @Test
  @Tag("slow")
  void the_hca_by_devx_passes_the_suite() throws Exception {
    try (ServedJvm jvm = ServedJvm.start(folder, 1)) {
      String said = jvm.run(Mlx5HcaContractTest.class, Mlx5HcaTransportContractTest.class);
      assertThat(said).contains(", 0 failed, ").doesNotContain("guest: 0 passed");
      jvm.awaitNobody();
    }
  }
}
