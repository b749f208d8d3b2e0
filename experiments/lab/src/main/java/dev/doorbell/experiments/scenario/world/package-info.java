/**
 * The ground of a point: a fabric, ranks with a GPU and an HCA each, and the queue pairs between
 * them. It chooses back ends and does not use them.
 */
@NullMarked
package dev.doorbell.experiments.scenario.world;

import org.jspecify.annotations.NullMarked;
