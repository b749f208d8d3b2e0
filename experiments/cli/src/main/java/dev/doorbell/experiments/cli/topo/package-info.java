/** {@code doorbell topo}: machines as NCCL, nvidia-smi and lstopo describe them. */
@NullMarked
package dev.doorbell.experiments.cli.topo;

import org.jspecify.annotations.NullMarked;
