"""All use cases of one server; `app.assembly` puts them together."""

from dataclasses import dataclass

from app.services.answering import Answering
from app.services.branching import Branching
from app.services.browsing import Browsing
from app.services.checkup import Checkup
from app.services.client_calls import ClientCalls
from app.services.commands import Commands
from app.services.connections import Connections
from app.services.diagnosing import Diagnosing
from app.services.digesting import Digesting
from app.services.editing import Editing
from app.services.exporting import Exporting
from app.services.figures import Figures
from app.services.importing import Importing
from app.services.keeping import Keeping
from app.services.picturing import Picturing
from app.services.projecting import Projecting
from app.services.prompts import PromptLibrary
from app.services.readiness import Readying
from app.services.recording import Recording
from app.services.recovering import Recovering
from app.services.rehearsing import Rehearsing
from app.services.repairing import Repairing
from app.services.reporting import Reporting
from app.services.revising import Revising
from app.services.searching import Searching
from app.services.sessions import Sessions
from app.services.steering import Steering
from app.services.syncing import Syncing
from app.services.undoing import Undoing
from app.services.viewing import Viewing
from app.services.watching import Watching
from app.services.working import Working


@dataclass(frozen=True)
class Services:
    """What the API, the command line and the demo call."""

    keeping: Keeping
    recording: Recording
    editing: Editing
    recovering: Recovering
    syncing: Syncing
    digesting: Digesting
    branching: Branching
    steering: Steering
    repairing: Repairing
    checkup: Checkup
    reporting: Reporting
    browsing: Browsing
    picturing: Picturing
    searching: Searching
    projecting: Projecting
    answering: Answering
    sessions: Sessions
    rehearsing: Rehearsing
    figures: Figures
    viewing: Viewing
    diagnosing: Diagnosing
    connections: Connections
    client_calls: ClientCalls
    revising: Revising
    undoing: Undoing
    working: Working
    watching: Watching
    importing: Importing
    exporting: Exporting
    commands: Commands
    prompts: PromptLibrary
    health: Readying
