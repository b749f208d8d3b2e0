/**
 * Experiments on recovery: kernels that post while their queue pair, its port or their doorbells
 * fail, and the host that keeps them going. Apart from transfers, since a rank has two ports here
 * and the host takes part.
 */
@NullMarked
package dev.doorbell.experiments.scenario.recovery;

import org.jspecify.annotations.NullMarked;
