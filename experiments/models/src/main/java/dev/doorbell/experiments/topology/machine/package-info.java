/**
 * Machines as other programs describe them: NCCL's XML dump, the matrix of {@code nvidia-smi topo
 * -m} and lstopo's XML. A reader refuses what it does not understand by line.
 */
@NullMarked
package dev.doorbell.experiments.topology.machine;

import org.jspecify.annotations.NullMarked;
