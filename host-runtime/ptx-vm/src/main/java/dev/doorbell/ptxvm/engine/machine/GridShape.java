package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.gpu.LaunchConfig;

/** The shape of a launch, and how linear indices map to it: x runs fastest. */
public record GridShape(LaunchConfig config) {
  /** Lanes of a warp. */
  static final int LANES = 32;

  public int threads() {
    return config.threadsPerBlock();
  }

  int threadX(int index) {
    return index % config.blockX();
  }

  int threadY(int index) {
    return index / config.blockX() % config.blockY();
  }

  int threadZ(int index) {
    return index / config.blockX() / config.blockY();
  }

  int blockX(int index) {
    return index % config.gridX();
  }

  int blockY(int index) {
    return index / config.gridX() % config.gridY();
  }

  int blockZ(int index) {
    return index / config.gridX() / config.gridY();
  }

  String threadName(int index) {
    return "(%d,%d,%d)".formatted(threadX(index), threadY(index), threadZ(index));
  }

  String blockName(int index) {
    return "(%d,%d,%d)".formatted(blockX(index), blockY(index), blockZ(index));
  }
}
