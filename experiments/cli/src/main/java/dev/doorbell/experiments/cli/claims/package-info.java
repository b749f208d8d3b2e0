/** {@code doorbell claims}: the ledger, and the experiments that are run for it. */
@NullMarked
package dev.doorbell.experiments.cli.claims;

import org.jspecify.annotations.NullMarked;
