package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.interop.shim.ShimOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

@CommandLine.Command(
    header = {
      "Runs a program of libibverbs and libmlx5, unmodified, on software HCAs. See docs/shim.md.",
      "",
      "  doorbell hca exec -- ibv_devinfo -v",
      "  doorbell hca exec -- ib_write_bw -d mlx5_0 -x 0 &",
      "  doorbell hca exec -- ib_write_bw -d mlx5_0 -x 0 127.0.0.1",
      "  doorbell hca exec --gpus -- python train.py",
      "",
      "The first one serves the devices to all who name the same folder, until none has them open.",
      "Ends with the program's exit status. Without a program: serves until it is interrupted.",
      ""
    })
final class HcaExecCommand extends ProgramCommand {
  @Option(
      names = "--devices",
      paramLabel = "N",
      description = "How many devices, mlx5_0 to mlx5_N-1; 1 unless given.")
  private @Nullable Integer devices;

  @Option(
      names = "--gpus",
      description =
          "The devices reach memory of this machine's GPUs (peer memory); takes memory of each GPU"
              + " in use.")
  private boolean gpus;

  @Override
  @Nullable Integer devices() {
    return devices;
  }

  @Override
  String devicesOption() {
    return "--devices";
  }

  @Override
  boolean namesGpus() {
    return gpus;
  }

  @Override
  ShimOptions withGpus(ShimOptions options) throws EnvironmentException {
    return gpus ? options.withGpus("--gpus") : options;
  }
}
