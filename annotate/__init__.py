"""Votes become labels, with known agreement."""

from .adjudication import read_decisions, review_rows
from .aggregation import Aggregation, ControlResult, aggregate
from .agreement import Agreement, CategoryAgreement, Coefficient, PairAgreement, measure_agreement
from .annotators import AnnotatorReport, annotator_reports
from .consensus import LABEL_STATUSES, SUFFIXES, TIE_RULES, Consensus, Labels, settle_labels
from .controls import ConfigControl, parse_config, read_config
from .label_studio import Project, connect, create_project, labelling_config, pull_project, sampled_tasks
from .ledger import Settling, settle
from .output import output_folder, refuse_existing, write_aggregation, write_file, write_review
from .questions import Question, doubt_weights, parse_questions
from .reading import read_annotations
from .scale_files import load_scale, parse_scale, scale_names
from .sensitivity import BucketCheck, Change, bucket_checks, bucketed, label_changes
from .stability import fewer_votes
from .summary import Sheet, aggregation_sheets, agreement_sheets, undefined_lines
from .votes import STATUSES, Annotations, ControlColumn, Ledger, Patterns, Votes, votes_of

__all__ = [
    "sampled_tasks",
    "pull_project",
    "labelling_config",
    "create_project",
    "connect",
    "Project",
    "LABEL_STATUSES",
    "STATUSES",
    "SUFFIXES",
    "TIE_RULES",
    "Aggregation",
    "Agreement",
    "Annotations",
    "AnnotatorReport",
    "BucketCheck",
    "CategoryAgreement",
    "Change",
    "Coefficient",
    "ConfigControl",
    "Consensus",
    "ControlColumn",
    "ControlResult",
    "Labels",
    "Ledger",
    "PairAgreement",
    "Patterns",
    "Question",
    "Settling",
    "Sheet",
    "Votes",
    "aggregate",
    "aggregation_sheets",
    "agreement_sheets",
    "annotator_reports",
    "bucket_checks",
    "bucketed",
    "doubt_weights",
    "fewer_votes",
    "label_changes",
    "load_scale",
    "measure_agreement",
    "output_folder",
    "parse_config",
    "parse_questions",
    "parse_scale",
    "read_annotations",
    "read_config",
    "read_decisions",
    "refuse_existing",
    "review_rows",
    "scale_names",
    "settle",
    "settle_labels",
    "undefined_lines",
    "votes_of",
    "write_aggregation",
    "write_file",
    "write_review",
]
