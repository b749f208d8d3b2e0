package dev.doorbell.experiments.workbench.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.config.kernel.KernelDescriptorReader;
import dev.doorbell.experiments.kernels.UserKernel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A descriptor and its PTX must say the same. */
class AbiCheckTest {
  private static final String PTX =
      """
      .version 8.2
      .target sm_75
      .address_size 64
      .extern .shared .align 16 .b8 pool[];
      .visible .entry go(.param .u64 a, .param .u32 b, .param .u64 c) {
        .reg .b32 %r<2>;
        ld.shared.u32 %r1, [pool];
        ret;
      }
      """;

  private static List<String> problems(String keys) throws ConfigException {
    return problems(keys, PTX);
  }

  private static List<String> problems(String keys, String ptx) throws ConfigException {
    String text = "kernel: go\ndescription: d\nmeasures: nothing\n" + keys;
    UserKernel kernel =
        new UserKernel(
            new KernelDescriptorReader().read("go.kernel.yaml", text),
            "go.kernel.yaml",
            "go.ptx",
            ptx);
    return KernelWorkbench.checkAbi(kernel).stream()
        .map(p -> p.code() + " " + p.where() + " " + p.what())
        .toList();
  }

  @Test
  void what_fits_is_passed() throws ConfigException {
    assertThat(
            problems(
                "parameters: [queue_pairs, bytes, status]\nisa: \"8.3\"\nlaunch: { shared: 64 }\n"))
        .isEmpty();
  }

  @Test
  void each_parameter_must_hold_what_it_gets() throws ConfigException {
    assertThat(problems("parameters: [local_key, local, status]\nlaunch: { shared: 64 }\n"))
        .containsExactly(
            "DB-K012 go.kernel.yaml:4:14 local_key does not fit parameter 0 of go, which has 8"
                + " bytes (.u64)",
            "DB-K012 go.kernel.yaml:4:25 local does not fit parameter 1 of go, which has 4 bytes"
                + " (.u32)");
    assertThat(problems("launch: { shared: 64 }\n"))
        .containsExactly(
            "DB-K012 go.kernel.yaml:1:1 entry go takes 3 parameters, and 2 are given: queue_pairs,"
                + " job");
  }

  @Test
  void an_entry_isa_and_shared_memory_that_do_not_fit_are_told() throws ConfigException {
    assertThat(problems("entry: goo\n"))
        .containsExactly(
            "DB-K003 go.kernel.yaml:4:8 go.ptx has no entry 'goo'  - did you mean 'go'?");
    assertThat(problems("parameters: [queue_pairs, bytes, status]\nisa: \"7.8\"\n"))
        .containsExactly(
            "DB-K012 go.kernel.yaml:5:6 isa is 7.8, and go.ptx says .version 8.2",
            "DB-K012 go.kernel.yaml:1:1 the entry reads extern .shared memory, and launch.shared is"
                + " 0");
  }

  @Test
  void ptx_that_cannot_be_loaded_is_told_at_its_key() throws ConfigException {
    assertThat(problems("ptx: go.ptx\n", PTX.replace("ld.shared", "frobnicate.shared")))
        .singleElement()
        .asString()
        .startsWith("DB-K002 go.kernel.yaml:4:6 go.ptx cannot be loaded: 1 line is refused")
        .contains("line 7");
  }
}
