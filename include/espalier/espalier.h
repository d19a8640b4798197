// SPDX-License-Identifier: Apache-2.0
// Everything: deep lattice networks that rise with the inputs that must raise them.
#pragma once

#include "espalier/anatomy.h"
#include "espalier/architecture.h"
#include "espalier/certificate.h"
#include "espalier/choices.h"
#include "espalier/csv.h"
#include "espalier/error.h"
#include "espalier/export.h"
#include "espalier/metrics.h"
#include "espalier/model.h"
#include "espalier/options.h"
#include "espalier/outputs.h"
#include "espalier/predictor.h"
#include "espalier/report.h"
#include "espalier/schema.h"
#include "espalier/simulate.h"
#include "espalier/table.h"
#include "espalier/text.h"
#include "espalier/train.h"
#include "espalier/tune.h"
#include "espalier/version.h"
